// A whole warp calls __syncwarp.
// Fixed: the mask names all lanes.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncwarp(0xffffffffu);
  y[t] = s[t ^ 1];
}
