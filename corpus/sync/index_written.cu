// Rows of a table by numbers that are data, while others write rows of it.
__global__ void k(float* table, const int* idx, float* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n * d) out[t] = table[idx[t / d] * d + t % d];
  else if (t < n * d + d) table[t - n * d] = 0.0f;
}
