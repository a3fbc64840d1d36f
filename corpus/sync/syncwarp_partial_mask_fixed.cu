// Each half of a warp meets under its own mask.
// Fixed: each half reads its own slots.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t < 16)
    __syncwarp(0x0000ffffu);
  else
    __syncwarp(0xffff0000u);
  y[t] = s[t ^ 15];
}
