// Sum of a block's elements in one shared cell. The pattern of flash-linear-attention issue 889.
// Fixed: atomicAdd, whose results nobody uses. The order of additions does not matter over the reals.
extern "C" __global__ void total(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0.0f;
  __syncthreads();
  atomicAdd(&sum, x[blockIdx.x * 64 + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
