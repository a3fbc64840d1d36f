// Producer and consumer warps in the manner of CudaDMA, two buffers, 4 consumer and 4 producer warps: a buffer is
// handed over with an arrive and a sync of its full barrier, and back with those of its empty barrier.
// Broken: nobody waits for empty buffers: a producer warp may arrive (line 23) for the next use of a full barrier
// before the consumers have come to the last (line 29), and overwrites (line 22) what they read (line 30). On other
// schedules a warp counts twice in one generation and the consumers wait for ever.
#define CONSUMERS 128
#define PRODUCERS 128
#define ALL (CONSUMERS + PRODUCERS)
#define BUFFERS 2
#define EMPTY(b) (1 + (b))
#define FULL(b) (1 + BUFFERS + (b))
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void stream(const float* __restrict__ x, float* __restrict__ y, int tiles) {
  __shared__ float s[BUFFERS][PRODUCERS];
  int t = threadIdx.x;
  if (t >= CONSUMERS) {
    int p = t - CONSUMERS;
    for (int k = 0; k < tiles; k++) {
      int b = k % BUFFERS;
      s[b][p] = x[k * PRODUCERS + p];
      ARRIVE(FULL(b), ALL);
    }
  } else {
    float sum = 0.0f;
    for (int k = 0; k < tiles; k++) {
      int b = k % BUFFERS;
      SYNC(FULL(b), ALL);
      for (int i = t; i < PRODUCERS; i += CONSUMERS) sum += s[b][PRODUCERS - 1 - i];
    }
    y[t] = sum;
  }
}
