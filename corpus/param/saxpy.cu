// y = a*x + y, one thread for each element.
//@ extent x[n], y[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) y[i] = a*x[i] + y[i];
}
