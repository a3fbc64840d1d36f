// Sum of each block's elements, after Harris: the first addition while loading.
// Broken: the barrier stands before the step and is left out before the last one: with step = 1 thread 0 reads s[1],
// which thread 1 has written with step = 2, both on line 14. Threads 0 and 1 of each block alone.
#define THREADS 128

extern "C" __global__ void reduce4(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * 2 * THREADS + t;
  s[t] = x[i] + x[i + THREADS];
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (step > 1) __syncthreads();
    if (t < step) s[t] += s[t + step];
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
