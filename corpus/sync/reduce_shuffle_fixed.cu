// Sum of each block's elements: shuffles inside warps, one partial sum of each warp in shared memory, the first warp
// adds them.
// Fixed: one barrier between writing and reading the partial sums.
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
  __syncthreads();
  if (warp == 0) {
    v = warp_sum(lane < THREADS / 32 ? partial[lane] : 0.0f);
    if (lane == 0) y[blockIdx.x] = v;
  }
}
