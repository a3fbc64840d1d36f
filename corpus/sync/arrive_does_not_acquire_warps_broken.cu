// Warp 0 arrives and reads what warp 1 has written before its wait.
// Broken: an arrive (line 12) hands over but does not wait: line 13 is not after the write of line 15.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float a[32];
  __shared__ float b[32];
  int t = threadIdx.x, lane = t % 32;
  if (t < 32) {
    a[lane] = x[t];
    ARRIVE(1, 64);
    y[t] = b[lane] + 1.0f;
  } else {
    b[lane] = x[t];
    SYNC(1, 64);
    y[t] = a[lane] * 2.0f;
  }
}
