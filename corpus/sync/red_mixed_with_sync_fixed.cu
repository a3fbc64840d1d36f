// Two warps meet, one of them counting votes.
// Fixed: both warps vote; bar.red orders memory like bar.sync.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  int votes = 64;
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 16; bar.red.popc.u32 %0, 1, 64, p; }" : "=r"(votes) : "r"(t) : "memory");
  y[t] = s[63 - t] + votes;
}
