// expect: proved
// check: --grid 1 --block 128 --arg x=f32[200] --arg out=f32[1]:out --arg n=200
// Block sum in two steps, by shuffles.
#define FULL_MASK 0xffffffff

__inline__ __device__ float warp_sum(float v) {
#pragma unroll
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(FULL_MASK, v, d, 32);
  return v;
}

//@ extent x[n], out[gridDim.x];
//@ requires n >= 0 && blockDim.x % 32 == 0 && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void block_sum(const float* x, float* out, int n) {
  __shared__ float partial[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float v = 0.f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += x[i];
  v = warp_sum(v);
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? partial[lane] : 0.f;
  if (warp == 0) {
    v = warp_sum(v);
    if (lane == 0) out[blockIdx.x] = v;
  }
}
