// Three roles in a chain: one warp loads, two compute, one stores; named barriers hand each buffer on and back.
// Fixed: each buffer has a full and an empty barrier with three warps each.
#define WIDTH 64
#define IN_FULL 1
#define IN_EMPTY 2
#define OUT_FULL 3
#define OUT_EMPTY 4
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void chain(const float* __restrict__ x, float* __restrict__ y, int tiles) {
  __shared__ float in[WIDTH], out[WIDTH];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int base = blockIdx.x * tiles * WIDTH;
  if (warp == 0) {
    for (int k = 0; k < tiles; k++) {
      SYNC(IN_EMPTY, 96);
      in[lane] = x[base + k * WIDTH + lane];
      in[lane + 32] = x[base + k * WIDTH + lane + 32];
      ARRIVE(IN_FULL, 96);
    }
  } else if (warp < 3) {
    int c = t - 32;
    ARRIVE(IN_EMPTY, 96);
    for (int k = 0; k < tiles; k++) {
      SYNC(IN_FULL, 96);
      float v = in[c] + in[WIDTH - 1 - c];
      if (k + 1 < tiles) ARRIVE(IN_EMPTY, 96);
      SYNC(OUT_EMPTY, 96);
      out[c] = v;
      ARRIVE(OUT_FULL, 96);
    }
  } else {
    ARRIVE(OUT_EMPTY, 96);
    for (int k = 0; k < tiles; k++) {
      SYNC(OUT_FULL, 96);
      y[base + k * WIDTH + lane] = out[lane];
      y[base + k * WIDTH + lane + 32] = out[lane + 32];
      if (k + 1 < tiles) ARRIVE(OUT_EMPTY, 96);
    }
  }
}
