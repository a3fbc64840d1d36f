// Three points through shared memory, with a halo on both sides.
//@ extent f[n], fn[n], fs[blockDim.x+2];
//@ requires n == blockDim.x*gridDim.x && n > 1;
__global__ void diffusion(const float* f, float* fn, int n, float c0, float c1) {
  extern __shared__ float fs[];
  int js = threadIdx.x + 1, j = blockDim.x*blockIdx.x + threadIdx.x;
  fs[js] = f[j];
  if (threadIdx.x == 0)            fs[0]    = blockIdx.x == 0 ? fs[1] : f[j-1];
  if (threadIdx.x == blockDim.x-1) fs[js+1] = blockIdx.x == gridDim.x-1 ? fs[js] : f[j+1];
  __syncthreads();
  fn[j] = c0*(fs[js-1] + fs[js+1]) + c1*fs[js];
}
