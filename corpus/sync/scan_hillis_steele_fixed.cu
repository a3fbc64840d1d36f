// Inclusive prefix sum of each block's elements, after Hillis and Steele.
// Fixed: two buffers in turn, so one barrier for each step is enough.
#define THREADS 128

extern "C" __global__ void scan(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[2][THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * THREADS + t;
  int now = 0;
  s[now][t] = x[i];
  __syncthreads();
  for (int step = 1; step < THREADS; step *= 2) {
    s[1 - now][t] = t >= step ? s[now][t] + s[now][t - step] : s[now][t];
    now = 1 - now;
    __syncthreads();
  }
  y[i] = s[now][t];
}
