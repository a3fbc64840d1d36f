// Four warps, a graph of operations with five hand-overs, barrier 2 used twice (the structure of WEFT's Figure 2).
// Fixed: barriers 1 and 3 bring both participants of the second generation of barrier 2 after the first.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void graph(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float ad[32], bh[32], de[32], gi[32];
  __shared__ float ef[32];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  float v = x[t];
  if (warp == 0) {
    ad[lane] = v;
    ARRIVE(2, 64);
    bh[lane] = v * v;
    ARRIVE(0, 64);
  } else if (warp == 1) {
    float c = v * 0.5f;
    SYNC(0, 64);
    float h = c + bh[lane];
    SYNC(3, 64);
    h += ef[lane];
    SYNC(2, 64);
    v = h + gi[lane];
  } else if (warp == 2) {
    SYNC(1, 64);
    float e = v + de[lane];
    ef[lane] = e;
    ARRIVE(3, 64);
    gi[lane] = e * 2.0f;
    ARRIVE(2, 64);
  } else {
    SYNC(2, 64);
    float d = v - ad[lane];
    de[lane] = d;
    ARRIVE(1, 64);
  }
  y[t] = v;
}
