// The same with 1024 threads and four buffers, as a load test: with tiles = 4096 there are 8192 generations of named
// barriers and 10.5 million accesses of lanes to shared memory.
// Fixed: tiles is any multiple of 4 from 4 on; the launch beside it takes 8.
#define HALF 512
#define ALL 1024
#define BUFFERS 4
#define EMPTY(b) (1 + (b))
#define FULL(b) (1 + BUFFERS + (b))
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void __launch_bounds__(ALL) stream(const float* __restrict__ x, float* __restrict__ y, int tiles) {
  __shared__ float s[BUFFERS][HALF];
  int t = threadIdx.x % HALF;
  if (threadIdx.x >= HALF) {
#pragma unroll 1
    for (int k = 0; k < tiles; k++) {
      int b = k % BUFFERS;
      SYNC(EMPTY(b), ALL);
      s[b][t] = x[k % 8 * HALF + t];
      ARRIVE(FULL(b), ALL);
    }
  } else {
    float sum = 0.0f;
    for (int b = 0; b < BUFFERS; b++) ARRIVE(EMPTY(b), ALL);
#pragma unroll 1
    for (int k = 0; k < tiles; k++) {
      int b = k % BUFFERS;
      SYNC(FULL(b), ALL);
      sum += s[b][t] + s[b][t ^ 1] + s[b][HALF - 1 - t] * s[b][(t + 37) % HALF];
      if (k + BUFFERS < tiles) ARRIVE(EMPTY(b), ALL);
    }
    y[t] = sum;
  }
}
