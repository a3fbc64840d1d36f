// Sum of each block's elements, after Harris: the last warp unrolled.
// Broken: the last warp counts on lock-step. As v is not volatile the compiler keeps one store, that of line 23: lane
// t + 16 writes v[t + 16] there while lane t reads it on line 19, lane t + 8 while lane t reads it on line 20, and so
// on. No __syncwarp orders the lanes.
#define THREADS 128

extern "C" __global__ void reduce5(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * THREADS + t];
  __syncthreads();
  for (int step = THREADS / 2; step > 32; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t < 32) {
    float* v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
    if (t == 0) y[blockIdx.x] = v[0];
  }
}
