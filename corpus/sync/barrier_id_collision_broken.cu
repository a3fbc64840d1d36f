// Two pairs of warps, each handing one slot for each lane from one warp to the other. The pattern of FlashInfer pull
// request 4533.
// Broken: both pairs use barrier 1 (line 12): warps 2 and 3 may meet warps 1 and 0 in one generation (lines 15 and
// 17), and then line 18 reads what line 14 of the right partner has not written yet, or one generation consists of two
// arrives and the waiting warps meet each other.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void pairs(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[2][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, pair = warp / 2;
  int id = 1 + warp / 4;
  if (warp % 2 == 0) {
    s[pair][lane] = x[pair * 32 + lane];
    ARRIVE(id, 64);
  } else {
    SYNC(id, 64);
    y[pair * 32 + lane] = s[pair][31 - lane];
  }
}
