// A plane of shared memory that copying warps fill for computing warps, step after step (the structure of WEFT's
// Listing 3).
// Broken: the next transfer is started (line 18) before the last use of the plane: the copying warps write (line 25)
// what the computing warps still read (line 19).
#define COMPUTE 64
#define R 4
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void two_phase(const float* __restrict__ x, float* __restrict__ y, int steps) {
  __shared__ float plane[COMPUTE + 2 * R];
  int t = threadIdx.x;
  if (t < COMPUTE) {
    ARRIVE(1, 128);
    for (int k = 0; k < steps; k++) {
      SYNC(2, 128);
      float sum = plane[t + R];
      if (k + 1 < steps) ARRIVE(1, 128);
      for (int j = 1; j <= R; j++) sum += plane[t + R - j] + plane[t + R + j];
      y[k * COMPUTE + t] = sum;
    }
  } else {
    for (int k = 0; k < steps; k++) {
      SYNC(1, 128);
      for (int i = t - COMPUTE; i < COMPUTE + 2 * R; i += COMPUTE) plane[i] = x[k * (COMPUTE + 2 * R) + i];
      ARRIVE(2, 128);
    }
  }
}
