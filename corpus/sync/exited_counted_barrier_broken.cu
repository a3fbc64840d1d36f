// Warp 1 has nothing to do and returns; warp 0 waits at a barrier.
// Broken: the barrier counts 64 threads (line 12), as many as the block has, and 32 of them have ended: a count does
// not shrink.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  if (t >= 32) return;
  s[t] = x[t];
  SYNC(0, 64);
  y[t] = s[31 - t];
}
