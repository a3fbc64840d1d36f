// Sum in shared memory, then thread 0 reads the sum.
// Broken: thread 0 reads the sum (line 10) while others still add to it (line 9): a plain access unordered with an
// atomic one.
extern "C" __global__ void kernel(const int* __restrict__ x, int* y) {
  __shared__ int c;
  int t = threadIdx.x;
  if (t == 0) c = 0;
  __syncthreads();
  atomicAdd(&c, x[blockIdx.x * 64 + t]);
  if (t == 0) y[blockIdx.x] = c;
}
