// Sum of each block's elements, after Harris: the first addition while loading.
// Fixed: a barrier ends each step.
#define THREADS 128

extern "C" __global__ void reduce4(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * 2 * THREADS + t;
  s[t] = x[i] + x[i + THREADS];
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
