// Warp 0 arrives twice at a barrier of two warps, then both meet elsewhere, then warp 1 waits for the arrive.
// Broken: the second arrive (line 13) is counted as another warp and completes the generation that the first began
// (line 12); warp 1 waits (line 17) for ever.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = x[t];
    ARRIVE(1, 64);
    ARRIVE(1, 64);
  }
  SYNC(2, 64);
  if (t >= 32) {
    SYNC(1, 64);
    y[t - 32] = s[63 - t];
  }
}
