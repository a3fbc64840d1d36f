// A block for each row, threads stride over its columns, reductions through shared memory.
//@ extent x[rows*cols], y[rows*cols], s[blockDim.x];
//@ requires rows == gridDim.x && cols >= 0 && cols + blockDim.x <= 2147483647 && rows*cols <= 2147483647;
__global__ void softmax(const float* x, float* y, int rows, int cols) {
  extern __shared__ float s[];
  const float* in = x + blockIdx.x*cols;
  float* out = y + blockIdx.x*cols;
  float m = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, in[c]);
  s[threadIdx.x] = m;
  __syncthreads();
  for (int d = blockDim.x/2; d > 0; d /= 2) {
    if (threadIdx.x < d && threadIdx.x + d < blockDim.x)
      s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();  // of the maximum
  }
  m = s[0];
  __syncthreads();  // before the sum
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(in[c] - m);
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = blockDim.x/2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();  // of the sum
  }
  sum = s[0];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = expf(in[c] - m)/sum;
}
