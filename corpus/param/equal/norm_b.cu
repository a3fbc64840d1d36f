// Layer norm of rows, a block for each, of any size.
//@ extent x[rows*n], y[rows*n], s[blockDim.x];
//@ requires rows == gridDim.x && \is_pow2(blockDim.x) && n >= 1 && rows*n + blockDim.x <= 2147483647;
__global__ void norm_by_blocks(const float* x, float* y, int rows, int n, float eps) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  float a = 0;
  for (int i = t; i < n; i += blockDim.x) a += x[blockIdx.x*n + i];
  s[t] = a;
  __syncthreads();
  for (int d = blockDim.x/2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  float mean = s[0]/n;
  __syncthreads();
  float l = 0;
  for (int i = t; i < n; i += blockDim.x) { float c = x[blockIdx.x*n + i] - mean; l += c*c; }
  s[t] = l;
  __syncthreads();
  for (int d = blockDim.x/2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  float r = rsqrtf(s[0]/n + eps);
  for (int i = t; i < n; i += blockDim.x) y[blockIdx.x*n + i] = (x[blockIdx.x*n + i] - mean)*r;
}
