// Sum of each block's elements, after Harris: interleaved addresses, neighbouring threads work.
// Broken: the loop has no barrier. With step = 2 thread 1 updates s[4], which thread 2 has written with step = 1, both
// on line 13; thread 0 reads s[2] of thread 1. Among the first 32 threads too.
#define THREADS 128

extern "C" __global__ void reduce2(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * THREADS + t];
  __syncthreads();
  for (int step = 1; step < THREADS; step *= 2) {
    int i = 2 * step * t;
    if (i < THREADS) s[i] += s[i + step];
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
