// Softmax of rows, a block for each: threads deal the row out among them and combine what they have in a tree.
//@ extent x[rows*cols], y[rows*cols], s[blockDim.x];
//@ requires rows == gridDim.x && \is_pow2(blockDim.x) && cols >= 1 && rows*cols + blockDim.x <= 2147483647;
__global__ void softmax_by_blocks(const float* x, float* y, int rows, int cols) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  float m = -INFINITY;
  for (int i = t; i < cols; i += blockDim.x) m = fmaxf(m, x[blockIdx.x*cols + i]);
  s[t] = m;
  __syncthreads();
  for (int d = blockDim.x/2; d > 0; d /= 2) {
    if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float l = 0;
  for (int i = t; i < cols; i += blockDim.x) l += expf(x[blockIdx.x*cols + i] - m);
  s[t] = l;
  __syncthreads();
  for (int d = blockDim.x/2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  l = s[0];
  for (int i = t; i < cols; i += blockDim.x) y[blockIdx.x*cols + i] = expf(x[blockIdx.x*cols + i] - m)/l;
}
