// Warp 0 writes and arrives; warp 1 waits and arrives elsewhere; warp 2 waits there and reads.
// Fixed: an arrive passes on what its thread has learnt before.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp == 0) {
    s[lane] = x[lane];
    ARRIVE(1, 64);
  } else if (warp == 1) {
    SYNC(1, 64);
    ARRIVE(2, 64);
  } else {
    SYNC(2, 64);
    y[lane] = s[31 - lane];
  }
}
