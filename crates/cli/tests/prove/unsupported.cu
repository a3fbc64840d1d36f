__global__ void walk(int* next, int* y) {
  int i = threadIdx.x;
  goto end;
end:
  y[i] = next[i];
}
