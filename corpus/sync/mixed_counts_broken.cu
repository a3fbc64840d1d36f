// Three warps meet at one barrier.
// Broken: warp 0 names a count of 64, warps 1 and 2 one of 96 (line 8), in one generation: illegal instruction.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[96];
  int t = threadIdx.x;
  s[t] = x[t];
  int count = t < 32 ? 64 : 96;
  asm volatile("bar.sync 1, %0;" ::"r"(count) : "memory");
  y[t] = s[95 - t];
}
