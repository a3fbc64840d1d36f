// 48 of 64 threads exchange elements. The pattern of TileLang issues 2556 and 1822.
// Broken: a count of 48 (line 11) is no multiple of 32: illegal instruction. Half of warp 1 does not come to the
// barrier and ends instead.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void reverse(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[48];
  int t = threadIdx.x;
  if (t < 48) s[t] = x[t];
  if (t < 48) SYNC(1, 48);
  if (t < 48) y[t] = s[47 - t];
}
