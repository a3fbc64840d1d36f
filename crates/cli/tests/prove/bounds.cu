// The last thread reads one element too many.
//@ extent x[n], y[n];
//@ requires n == gridDim.x*blockDim.x && n <= 2147483647;
__global__ void shift(const float* x, float* y, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  y[i] = x[i + 1];
}
