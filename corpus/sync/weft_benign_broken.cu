// All threads load one value and store it to one place (the harmless races of the RTM kernels that WEFT reports).
// Broken: threads t and t + 4 write different elements of x to w[t mod 4] (line 6); the last one wins.
extern "C" __global__ void scale(const float* __restrict__ x, const float* __restrict__ c, float* __restrict__ y) {
  __shared__ float w[4];
  int t = threadIdx.x;
  w[t % 4] = x[t];
  __syncthreads();
  y[t] = x[t] * w[t / 16];
}
