// A generation of arrives alone, then one with a wait, on the same barrier.
// Fixed: the barrier of the block comes between the two generations.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp <= 1) ARRIVE(1, 64);
  __syncthreads();
  if (warp == 2) {
    s[lane] = x[lane];
    ARRIVE(1, 64);
  } else if (warp == 3) {
    SYNC(1, 64);
    y[lane] = s[31 - lane];
  }
}
