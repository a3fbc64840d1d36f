// Each half of a warp meets under its own mask.
// Broken: thread t reads the slot of the other half (line 12), which met under another mask (lines 9 and 11): nothing
// orders it after line 7.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t < 16)
    __syncwarp(0x0000ffffu);
  else
    __syncwarp(0xffff0000u);
  y[t] = s[t ^ 31];
}
