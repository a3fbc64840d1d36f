// The first threads, with a stride.
//@ extent in[n], out[gridDim.x], s[blockDim.x];
//@ requires n == gridDim.x*blockDim.x;
__global__ void reduce(const float* in, float* out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x*blockDim.x + t];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int i = 2*d*t;
    if (i + d < blockDim.x) s[i] += s[i + d];
    __syncthreads();  // of the loop
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
