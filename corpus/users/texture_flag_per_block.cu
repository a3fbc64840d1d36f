// expect: proved
// Blocks skip regions that a coarse map in a texture marks as empty: all threads of a block fetch the same flag, so all meet at the barrier.
//@ extent out[gridDim.x], in[gridDim.x*blockDim.x], partial[blockDim.x];
//@ requires \is_pow2(blockDim.x) && gridDim.x*blockDim.x <= 2147483647;
__global__ void sum_regions(float* out, const float* in, cudaTextureObject_t occupied, cudaTextureObject_t weight) {
  extern __shared__ float partial[];
  if (tex1Dfetch<unsigned char>(occupied, blockIdx.x) == 0 || tex2D<float>(weight, blockIdx.x + 0.5f, 0.5f) <= 0.0f) {
    if (threadIdx.x == 0) out[blockIdx.x] = 0.0f;
    return;
  }
  partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}
