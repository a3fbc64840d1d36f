// Sum of each block's elements: shuffles inside warps, one partial sum of each warp in shared memory, the first warp
// adds them.
// Broken: no barrier before the first warp reads the partial sums: lanes 1 to 3 of warp 0 read (line 19) what thread 0
// of warps 1 to 3 writes (line 17); lane 0 reads its own. The shuffles of line 17's warp order no memory. A checker
// that runs warp 0 first also sees partial[1..3] uninitialised: a consequence.
#define THREADS 128

__device__ __forceinline__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  return v;
}

extern "C" __global__ void reduce_shuffle(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float partial[THREADS / 32];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  float v = warp_sum(x[blockIdx.x * THREADS + t]);
  if (lane == 0) partial[warp] = v;
  if (warp == 0) {
    v = warp_sum(lane < THREADS / 32 ? partial[lane] : 0.0f);
    if (lane == 0) y[blockIdx.x] = v;
  }
}
