//@ extent in[m], out[m];
//@ requires m == gridDim.x*blockDim.x;
__global__ void reverse3(float* out, const float* in, int m) {
  int i = blockDim.x*blockIdx.x + threadIdx.x;
  out[i] = in[i];
}
