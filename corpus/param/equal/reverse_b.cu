// Through shared memory.
//@ extent in[m], out[m], loc[blockDim.x];
//@ requires m == gridDim.x*blockDim.x;
__global__ void reverse2(float* out, const float* in, int m) {
  extern __shared__ float loc[];
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  int j = (gridDim.x-1-blockIdx.x)*blockDim.x + threadIdx.x;
  loc[threadIdx.x] = in[i];
  __syncthreads();
  out[j] = loc[blockDim.x-1-threadIdx.x];
}
