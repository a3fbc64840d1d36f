// Two phases of a producer and a consumer warp over the same two barriers. The pattern of vLLM pull request 26026.
// Fixed: as many arrives as waits in each phase.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void phases(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int lane = threadIdx.x % 32;
  float sum = 0.0f;
  for (int phase = 0; phase < 2; phase++) {
    if (threadIdx.x < 32) {
      for (int k = 0; k < 3; k++) {
        SYNC(1, 64);
        s[lane] = x[(phase * 3 + k) * 32 + lane];
        ARRIVE(2, 64);
      }
    } else {
      ARRIVE(1, 64);
      for (int k = 0; k < 3; k++) {
        SYNC(2, 64);
        sum += s[31 - lane];
        if (k < 2) ARRIVE(1, 64);
      }
    }
  }
  if (threadIdx.x >= 32) y[lane] = sum;
}
