// One barrier, first for two warps, then for three.
// Broken: nothing keeps warp 2 (line 13) from coming to barrier 1 before the other two have completed its first
// generation, with another count: an illegal instruction then.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[96];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t < 64) SYNC(1, 64);
  float v = t < 64 ? s[63 - t] : 0.0f;
  SYNC(1, 96);
  y[t] = v + s[95 - t];
}
