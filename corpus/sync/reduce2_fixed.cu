// Sum of each block's elements, after Harris: interleaved addresses, neighbouring threads work.
// Fixed: a barrier ends each step.
#define THREADS 128

extern "C" __global__ void reduce2(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * THREADS + t];
  __syncthreads();
  for (int step = 1; step < THREADS; step *= 2) {
    int i = 2 * step * t;
    if (i < THREADS) s[i] += s[i + step];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
