// Producer and consumer warps in the manner of CudaDMA, one buffer, 2 consumer and 2 producer warps: a buffer is
// handed over with an arrive and a sync of its full barrier, and back with those of its empty barrier.
// Broken: the producers do not arrive after the last tile: they end, and the consumers wait on line 30 for ever; the
// count does not shrink with threads that exit.
#define CONSUMERS 64
#define PRODUCERS 64
#define ALL (CONSUMERS + PRODUCERS)
#define BUFFERS 1
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
      SYNC(EMPTY(b), ALL);
      s[b][p] = x[k * PRODUCERS + p];
      if (k + 1 < tiles) ARRIVE(FULL(b), ALL);
    }
  } else {
    float sum = 0.0f;
    for (int b = 0; b < BUFFERS; b++) ARRIVE(EMPTY(b), ALL);
    for (int k = 0; k < tiles; k++) {
      int b = k % BUFFERS;
      SYNC(FULL(b), ALL);
      for (int i = t; i < PRODUCERS; i += CONSUMERS) sum += s[b][PRODUCERS - 1 - i];
      if (k + BUFFERS < tiles) ARRIVE(EMPTY(b), ALL);
    }
    y[t] = sum;
  }
}
