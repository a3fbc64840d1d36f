// Four warps, a graph of operations with five hand-overs, barrier 2 used twice (the structure of WEFT's Figure 2).
// Broken: without barrier 3 nothing brings warp 1 to the second generation of barrier 2 (line 21) after warp 3 has
// come to the first (line 29): it may complete that generation with warp 0's arrive (line 14), and then warps 2 and 3
// wait for ever; or it reads gi (line 22) before warp 2 has written it (line 26).
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void graph(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float ad[32], bh[32], de[32], gi[32];
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
    SYNC(2, 64);
    v = h + gi[lane];
  } else if (warp == 2) {
    SYNC(1, 64);
    float e = v + de[lane];
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
