// Five spellings of one and the same barrier of the block.
// bar.sync, barrier.sync, barrier.sync.aligned, bar.cta.sync with a count and barrier.cta.sync.aligned are all barrier
// 0.
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
  asm volatile("barrier.cta.sync.aligned 0;" ::: "memory");
  y[t] = s[t ^ 32];
}
