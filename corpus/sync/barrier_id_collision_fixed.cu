// Two pairs of warps, each handing one slot for each lane from one warp to the other. The pattern of FlashInfer pull
// request 4533.
// Fixed: each pair has its own barrier.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void pairs(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[2][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, pair = warp / 2;
  int id = 1 + warp / 2;
  if (warp % 2 == 0) {
    s[pair][lane] = x[pair * 32 + lane];
    ARRIVE(id, 64);
  } else {
    SYNC(id, 64);
    y[pair * 32 + lane] = s[pair][31 - lane];
  }
}
