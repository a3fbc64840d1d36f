// One buffer, handed over with barrier 1 and back with barrier 2, but for the last time.
extern "C" __global__ void kernel(const float* x, float* y, int rounds) {
  __shared__ float s[32];
  int t = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int k = 0; k < rounds; ++k) {
      if (k > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      s[t] = x[k * 32 + t];
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
  } else {
    for (int k = 0; k < rounds; ++k) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      y[k * 32 + t] = s[31 - t];
      if (k + 1 < rounds) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}
