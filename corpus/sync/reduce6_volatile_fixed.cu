// Sum of each block's elements, after Harris: all steps unrolled, through a volatile pointer (the pattern of FastNN
// issue 8, miniFE issue 13 and CloverLeaf issue 16).
// Fixed: __syncwarp after each read and after each write of the last warp.
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
    float sum = v[t] + v[t + 32];
    __syncwarp();
    v[t] = sum;
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
      sum += v[t + step];
      __syncwarp();
      v[t] = sum;
      __syncwarp();
    }
    if (t == 0) y[blockIdx.x] = v[0];
  }
}
