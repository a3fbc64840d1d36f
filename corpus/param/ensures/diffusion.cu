// One step of 1-D diffusion with a halo in shared memory; the ends of the line keep their neighbours' values.
//@ extent f[n], fn[n], fs[blockDim.x + 2];
//@ requires n == blockDim.x*gridDim.x && n > 1;
//@ ensures fn[0] == c0*(f[0] + f[1]) + c1*f[0] && fn[n-1] == c0*(f[n-2] + f[n-1]) + c1*f[n-1];
//@ ensures \forall int j; 0 < j < n-1 ==> fn[j] == c0*(f[j-1] + f[j+1]) + c1*f[j];
__global__ void diffusion(const float* f, float* fn, int n, float c0, float c1) {
  extern __shared__ float fs[];
  int js = threadIdx.x + 1, j = blockDim.x*blockIdx.x + threadIdx.x;
  fs[js] = f[j];
  if (threadIdx.x == 0) fs[0] = blockIdx.x == 0 ? fs[1] : f[j-1];
  if (threadIdx.x == blockDim.x-1) fs[js+1] = blockIdx.x == gridDim.x-1 ? fs[js] : f[j+1];
  __syncthreads();
  fn[j] = c0*(fs[js-1] + fs[js+1]) + c1*fs[js];
}
