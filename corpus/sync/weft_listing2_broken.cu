// One slot of shared memory for each lane, handed from warp 0 to warp 1 and back with one named barrier (the structure
// of WEFT's Listing 2).
// Broken: without the meeting at barrier 0 in the middle, warp 0's second registration at barrier 1 (line 21) does not
// come after warp 1's first (line 17): it may complete the generation that its own arrive (line 15) began, and then
// warp 1 waits for ever, or lines 24 and 22 race.
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
  if (t < 32) {
    SYNC(1, 64);
    y[t] = g[lane];
  } else {
    g[lane] = x[t];
    ARRIVE(1, 64);
  }
}
