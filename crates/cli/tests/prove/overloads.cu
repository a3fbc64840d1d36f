//@ extent a[n];
//@ requires gridDim.x*blockDim.x <= 2147483647;
__global__ void fill(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 1.0f;
}

//@ extent a[n];
//@ requires gridDim.x*blockDim.x <= 2147483647;
__global__ void fill(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) a[i] = 1;
}

//@ extent a[n];
//@ requires gridDim.x*blockDim.x <= 2147483647;
__global__ void clear(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 0;
}
