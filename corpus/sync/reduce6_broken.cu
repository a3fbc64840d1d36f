// Sum of each block's elements, after Harris: all steps unrolled.
// Broken: the last warp counts on lock-step. As v is not volatile the compiler keeps one store, that of line 21: lane
// t + 16 writes v[t + 16] there while lane t reads it on line 17, lane t + 8 while lane t reads it on line 18, and so
// on. No __syncwarp orders the lanes.
#define THREADS 128

extern "C" __global__ void reduce6(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 2 * THREADS + t] + x[blockIdx.x * 2 * THREADS + THREADS + t];
  __syncthreads();
  if (THREADS >= 256) { if (t < 128) s[t] += s[t + 128]; __syncthreads(); }
  if (THREADS >= 128) { if (t < 64) s[t] += s[t + 64]; __syncthreads(); }
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
