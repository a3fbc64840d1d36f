// A copy, one thread for each element.
//@ extent in[n], out[n];
//@ requires n == gridDim.x*blockDim.x;
__global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  out[i] = in[i];
}
