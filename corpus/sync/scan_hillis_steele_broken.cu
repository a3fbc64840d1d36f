// Inclusive prefix sum of each block's elements, after Hillis and Steele.
// Broken: one buffer. In each step thread t reads s[t - step] while thread t - step (if it is at least step itself)
// writes it, both on line 13: first thread 2 and thread 1, with step = 1. The last step (step = 64) has no such pair.
#define THREADS 128

extern "C" __global__ void scan(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * THREADS + t;
  s[t] = x[i];
  __syncthreads();
  for (int step = 1; step < THREADS; step *= 2) {
    if (t >= step) s[t] += s[t - step];
    __syncthreads();
  }
  y[i] = s[t];
}
