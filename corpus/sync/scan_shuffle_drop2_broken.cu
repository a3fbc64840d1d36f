// Inclusive prefix sum: shuffles inside a warp, then the warps' totals combined in shared memory.
// Broken: no barrier before the combined totals are used: warps 1 to 3 read total[warp - 1] (line 26) while lanes 0 to
// 2 of warp 0 write it (line 24).
#define THREADS 128
#define WARPS (THREADS / 32)

extern "C" __global__ void scan(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float total[WARPS];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int i = blockIdx.x * THREADS + t;
  float v = x[i];
  for (int step = 1; step < 32; step *= 2) {
    float left = __shfl_up_sync(0xffffffffu, v, step);
    if (lane >= step) v += left;
  }
  if (lane == 31) total[warp] = v;
  __syncthreads();
  if (warp == 0) {
    float sum = lane < WARPS ? total[lane] : 0.0f;
    for (int step = 1; step < WARPS; step *= 2) {
      float left = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += left;
    }
    if (lane < WARPS) total[lane] = sum;
  }
  y[i] = warp > 0 ? v + total[warp - 1] : v;
}
