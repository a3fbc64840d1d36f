// The same with half as many threads, of which half add what the other half has.
//@ extent in[rows*n], out[rows], s[blockDim.x];
//@ requires rows == gridDim.x && n == 2*blockDim.x && \is_pow2(n) && rows*n <= 2147483647;
__global__ void far(const float* in, float* out, int rows, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x*n + t] + in[blockIdx.x*n + t + blockDim.x];
  __syncthreads();
  for (int d = blockDim.x/2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();  // of the loop
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
