// Two warps, each waiting for the other's arrive at another barrier (the structure of WEFT's Listing 1).
// Fixed: warp 0 arrives first. y is written by its own thread.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void cycle(int* y) {
  if (threadIdx.x < 32) {
    ARRIVE(1, 64);
    SYNC(0, 64);
  } else {
    SYNC(1, 64);
    ARRIVE(0, 64);
  }
  y[threadIdx.x] = 1;
}
