// expect: proved
// check: --grid 3 --block 64 --arg x=f32[240] --arg gamma=f32[80] --arg beta=f32[80] --arg y=f32[240]:out --arg cols=80
// ML style: a block for each row.
template <typename T>
__device__ __forceinline__ T block_sum(T v, T* scratch) {
  scratch[threadIdx.x] = v;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  T total = scratch[0];
  __syncthreads();
  return total;
}

//@ extent x[gridDim.x*cols], gamma[cols], beta[cols], y[gridDim.x*cols];
//@ requires cols >= 1 && cols <= 1000000 && gridDim.x*cols <= 1000000000 && blockDim.x == 64;
__global__ void layer_norm(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta, float* __restrict__ y, int cols) {
  __shared__ float scratch[64];
  const float* row = x + blockIdx.x * cols;
  float s = 0.f, q = 0.f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    s += row[c];
    q += row[c] * row[c];
  }
  const float mean = block_sum(s, scratch) / cols;
  const float var = block_sum(q, scratch) / cols - mean * mean;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[blockIdx.x * cols + c] = (row[c] - mean) * rsqrtf(var + 1e-5f) * gamma[c] + beta[c];
}
