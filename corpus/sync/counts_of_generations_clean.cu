// One barrier, first for two warps, then for three.
// Counts may differ between generations; the barrier of the block keeps the two apart.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[96];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t < 64) SYNC(1, 64);
  float v = t < 64 ? s[63 - t] : 0.0f;
  __syncthreads();
  SYNC(1, 96);
  y[t] = v + s[95 - t];
}
