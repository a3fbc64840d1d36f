// Any number of threads for any number of elements.
//@ extent x[n], y[n];
//@ requires n >= 0 && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x*blockDim.x + threadIdx.x; i < n; i += gridDim.x*blockDim.x)
    y[i] = a*x[i] + y[i];
}
