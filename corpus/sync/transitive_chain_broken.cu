// Warp 0 writes, meets warp 1, which meets warp 2, which reads.
// Broken: the other way round: warp 1 meets warp 2 (line 11) before it meets warp 0 (line 12), so nothing brings the
// read (line 13) after the write (line 10).
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp == 0) s[lane] = x[lane];
  if (warp >= 1) SYNC(2, 64);
  if (warp <= 1) SYNC(1, 64);
  if (warp == 2) y[lane] = s[31 - lane];
}
