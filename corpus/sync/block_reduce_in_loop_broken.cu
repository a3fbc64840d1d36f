// A block-wide maximum for each of several rows with one scratch array. The pattern of FlashInfer pull request 3624.
// Broken: the scratch array is used again at once: a warp that has finished a row writes its next maximum (line 10,
// called from line 21) while others still read the last ones (lines 12 and 13). The lines given are those of the
// calls.
#define WARPS 4

__device__ __forceinline__ float block_max(float v, float* scratch) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int k = 16; k > 0; k /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, k));
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  v = scratch[0];
  for (int i = 1; i < WARPS; i++) v = fmaxf(v, scratch[i]);
  return v;
}

extern "C" __global__ void normalise(const float* __restrict__ x, float* __restrict__ y, int rows) {
  __shared__ float scratch[WARPS];
  for (int row = 0; row < rows; row++) {
    float v = x[row * 128 + threadIdx.x];
    y[row * 128 + threadIdx.x] = v - block_max(v, scratch);
  }
}
