// Two warps, each waiting for the other's arrive at another barrier (the structure of WEFT's Listing 1).
// Broken: warp 0 waits at barrier 0 (line 9), warp 1 at barrier 1 (line 12), each for what the other would do next. No
// schedule completes.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void cycle(int* y) {
  if (threadIdx.x < 32) {
    SYNC(0, 64);
    ARRIVE(1, 64);
  } else {
    SYNC(1, 64);
    ARRIVE(0, 64);
  }
  y[threadIdx.x] = 1;
}
