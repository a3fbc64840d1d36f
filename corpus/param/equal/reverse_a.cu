// From both ends at once.
//@ extent in[m], out[m];
//@ requires m == gridDim.x*blockDim.x;
__global__ void reverse1(float* out, const float* in, int m) {
  int i = blockDim.x*blockIdx.x + threadIdx.x;
  out[m-1-i] = in[i];
}
