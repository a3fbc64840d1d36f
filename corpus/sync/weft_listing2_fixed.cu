// One slot of shared memory for each lane, handed from warp 0 to warp 1 and back with one named barrier (the structure
// of WEFT's Listing 2).
// Fixed: barrier 0 separates the two generations of barrier 1, and all accesses to g are in order.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void exchange(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float g[32];
  int t = threadIdx.x, lane = t % 32;
  SYNC(0, 64);
  if (t < 32) {
    g[lane] = x[t];
    ARRIVE(1, 64);
  } else {
    SYNC(1, 64);
    y[t] = g[lane];
  }
  SYNC(0, 64);
  if (t < 32) {
    SYNC(1, 64);
    y[t] = g[lane];
  } else {
    g[lane] = x[t];
    ARRIVE(1, 64);
  }
}
