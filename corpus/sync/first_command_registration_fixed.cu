// Warp 0 meets warp 1, then warp 2, in barriers of two warps; warps 1 and 2 do nothing else.
// Fixed: each meeting has its own barrier.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  int warp = threadIdx.x / 32;
  int id = warp == 2 ? 2 : 1, times = warp == 0 ? 2 : 1;
#pragma unroll 1
  for (int i = 0; i < times; i++) {
    SYNC(id, 64);
    id++;
  }
  y[threadIdx.x] = x[threadIdx.x];
}
