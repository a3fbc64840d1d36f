// Warp 0 meets warp 1, then warp 2, in barriers of two warps; warps 1 and 2 do nothing else.
// Broken: one barrier for both meetings (line 13): warps 1 and 2 may meet each other, and then warp 0 waits for ever.
// The registration of the warp that comes second is its first command, so a rule that looks at what precedes it in its
// own thread does not see it.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  int warp = threadIdx.x / 32;
  int id = 1, times = warp == 0 ? 2 : 1;
#pragma unroll 1
  for (int i = 0; i < times; i++) {
    SYNC(id, 64);
  }
  y[threadIdx.x] = x[threadIdx.x];
}
