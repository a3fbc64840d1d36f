// A generation of arrives alone, then one with a wait, on the same barrier.
// Broken: nothing brings warps 2 and 3 (lines 14 and 16) after the generation that warps 0 and 1 are meant to complete
// by themselves (line 11): warp 3 may be counted together with one of those and read too early. A rule that looks at
// waits alone does not see it.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp <= 1) ARRIVE(1, 64);
  if (warp == 2) {
    s[lane] = x[lane];
    ARRIVE(1, 64);
  } else if (warp == 3) {
    SYNC(1, 64);
    y[lane] = s[31 - lane];
  }
}
