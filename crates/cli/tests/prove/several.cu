//@ extent a[n];
//@ requires gridDim.x*blockDim.x <= 2147483647;
__global__ void fill(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 1.0f;
}

__global__ void jump(float* a) { goto end; end: a[0] = 1.0f; }

//@ extent a[n];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void stray(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) a[i] = 1.0f;
}

//@ extent a[n];
//@ requires gridDim.x*blockDim.x <= 2147483647;
template <class T> __global__ void twice(T* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
template __global__ void twice<float>(float*, int);
template __global__ void twice<double>(double*, int);

//@ extent a[n];
//@ requires gridDim.x*blockDim.x <= 2147483647;
template <class T> __global__ void any(T* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
