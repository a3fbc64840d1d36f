// Sum of each block's elements, after Harris: the last warp unrolled.
// Fixed: __syncwarp after each read and after each write of the last warp.
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
