// A tree of sums in shared memory; as many threads as there are elements of s.
//@ extent x[gridDim.x*blockDim.x], y[gridDim.x], s[blockDim.x];
//@ requires \is_pow2(blockDim.x) && gridDim.x*blockDim.x <= 2147483647;
__global__ void sums(const float* x, float* y) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x*blockDim.x + t];
  __syncthreads();
  for (int step = blockDim.x/2; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
