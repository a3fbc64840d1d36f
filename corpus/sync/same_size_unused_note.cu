// Thread 0 writes a word while thread 32 reads it for nothing.
extern "C" __global__ void kernel(const int* x, int* y) {
  __shared__ int s[2];
  int t = threadIdx.x;
  if (t == 0) s[0] = x[0];
  if (t == 32) (void)*(volatile int*)&s[0];
  __syncthreads();
  if (t == 0) y[0] = s[0];
}
