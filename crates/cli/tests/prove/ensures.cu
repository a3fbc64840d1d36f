//@ extent x[n], y[n];
//@ requires n >= 1 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
//@ ensures \forall int j; 0 <= j < n ==> y[j] == 2*x[j];
__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2*x[i];
}

//@ extent x[n], y[n];
//@ requires n >= 1 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
//@ ensures \forall int j; 0 <= j < n ==> y[j] == 2*x[j];
__global__ void almost(const float* x, float* y, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n - 1) y[i] = 2*x[i];
}

//@ extent x[n], y[n];
//@ requires n >= 1 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
//@ ensures y[0] == \fold(max, k, 0, 1, 2*x[k]);
__global__ void greatest(const float* x, float* y, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2*x[i];
}
