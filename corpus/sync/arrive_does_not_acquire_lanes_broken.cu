// Warp 0 arrives and reads what warp 1 has written before its wait.
// Broken: nor does it order the lanes of its own warp: lane t reads the slot of lane t ^ 1 (line 13) after the arrive
// (line 12) that both have passed.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float a[32];
  int t = threadIdx.x, lane = t % 32;
  if (t < 32) {
    a[lane] = x[t];
    ARRIVE(1, 64);
    y[t] = a[lane ^ 1] + 1.0f;
  } else {
    SYNC(1, 64);
    y[t] = a[lane] * 2.0f;
  }
}
