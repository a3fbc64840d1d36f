// Rows of which each is summed by a block of any size: the row is dealt out to the threads.
//@ extent in[rows*n], out[rows], s[blockDim.x];
//@ requires rows == gridDim.x && \is_pow2(blockDim.x) && rows*n + blockDim.x <= 2147483647 && n >= 0;
__global__ void dealt(const float* in, float* out, int rows, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  float acc = 0;
  for (int i = t; i < n; i += blockDim.x) acc += in[blockIdx.x*n + i];
  s[t] = acc;
  __syncthreads();
  for (int d = blockDim.x/2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
