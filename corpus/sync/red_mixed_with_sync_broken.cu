// Two warps meet, one of them counting votes.
// Broken: bar.red (line 10) and bar.sync (line 12) in one generation: unpredictable by the manual. Also two blocking
// instructions in one generation (a note).
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  int votes = 64;
  if (t < 32)
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 16; bar.red.popc.u32 %0, 1, 64, p; }" : "=r"(votes) : "r"(t) : "memory");
  else
    asm volatile("bar.sync 1, 64;" ::: "memory");
  y[t] = s[63 - t] + votes;
}
