// Half a warp exchanges elements with __syncwarp.
// Fixed: the mask names the lanes that come.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[16];
  int t = threadIdx.x;
  float v = x[t];
  if (t < 16) {
    s[t] = v;
    __syncwarp(0x0000ffffu);
    v = s[15 - t];
  }
  __syncthreads();
  y[t] = v;
}
