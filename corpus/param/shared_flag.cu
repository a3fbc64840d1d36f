// All threads write the same value; a barrier before it is read.
//@ extent a[n], out[gridDim.x];
//@ requires n == gridDim.x*blockDim.x;
__global__ void any_negative(const int* a, int* out, int n) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (a[blockIdx.x*blockDim.x + threadIdx.x] < 0) found = 1;
  __syncthreads();  // before it is read
  if (threadIdx.x == 0) out[blockIdx.x] = found;
}
