// Half of the threads add the other half's elements.
//@ extent in[n], out[gridDim.x], s[blockDim.x];
//@ requires n == gridDim.x*blockDim.x;
__global__ void reduce(const float* in, float* out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x*blockDim.x + t];
  __syncthreads();
  for (int d = blockDim.x/2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();  // of the loop
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
