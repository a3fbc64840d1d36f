// Straight from global memory.
//@ extent in[n], out[n];
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void stencil(const float* in, float* out, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = 0.25f*in[i-1] + 0.5f*in[i] + 0.25f*in[i+1];
}
