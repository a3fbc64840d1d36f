// Sum of each block's elements, after Harris: all steps unrolled, through a volatile pointer (the pattern of FastNN
// issue 8, miniFE issue 13 and CloverLeaf issue 16).
// Broken: the last warp counts on lock-step: lane t reads v[t + 16] (line 18) while lane t + 16 writes it (lines 17 to
// 22), and so on down to line 22. No __syncwarp orders the lanes. The accesses are volatile: schedule-dependent rather
// than undefined, reported as races all the same.
#define THREADS 128

extern "C" __global__ void reduce6(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 2 * THREADS + t] + x[blockIdx.x * 2 * THREADS + THREADS + t];
  __syncthreads();
  if (THREADS >= 256) { if (t < 128) s[t] += s[t + 128]; __syncthreads(); }
  if (THREADS >= 128) { if (t < 64) s[t] += s[t + 64]; __syncthreads(); }
  if (t < 32) {
    volatile float* v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
    if (t == 0) y[blockIdx.x] = v[0];
  }
}
