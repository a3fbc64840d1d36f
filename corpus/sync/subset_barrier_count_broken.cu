// 48 of 64 threads exchange elements. The pattern of TileLang issues 2556 and 1822.
// Broken: a count of 48 (line 8) is no multiple of 32: illegal instruction. Half of warp 1 does not come to the
// barrier and ends instead.
extern "C" __global__ void reverse(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[48];
  int t = threadIdx.x;
  if (t < 48) s[t] = x[t];
  if (t < 48) asm volatile("bar.sync 1, %0;" ::"r"(48) : "memory");
  if (t < 48) y[t] = s[47 - t];
}
