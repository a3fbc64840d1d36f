// Five spellings of one and the same barrier of the block.
// Broken: the warps wait at different barriers, warp 0 at 1 (line 18), warp 1 at 0 (line 20), each for the whole
// block.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float v = x[t];
  s[t] = v;
  asm volatile("bar.sync 0;" ::: "memory");
  v += s[63 - t];
  asm volatile("barrier.sync 0;" ::: "memory");
  s[t] = v;
  asm volatile("barrier.sync.aligned 0;" ::: "memory");
  v += s[(t + 1) % 64];
  asm volatile("bar.cta.sync 0, 64;" ::: "memory");
  s[t] = v;
  if (t < 32)
    asm volatile("barrier.cta.sync 1;" ::: "memory");
  else
    asm volatile("barrier.cta.sync 0;" ::: "memory");
  y[t] = s[t ^ 32];
}
