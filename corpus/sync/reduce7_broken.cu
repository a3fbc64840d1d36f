// Sum of each block's elements, after Harris: many elements for each thread.
// Broken: the last warp counts on lock-step. As v is not volatile the compiler keeps one store, that of line 23: lane
// t + 16 writes v[t + 16] there while lane t reads it on line 19, lane t + 8 while lane t reads it on line 20, and so
// on. No __syncwarp orders the lanes.
#define THREADS 128

extern "C" __global__ void reduce7(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  float sum_of_thread = 0.0f;
  for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS) sum_of_thread += x[i];
  s[t] = sum_of_thread;
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
