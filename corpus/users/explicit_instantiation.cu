// expect: proved
// A template and the instances that a library would export.
template <typename T>
__device__ T fused(T a, T x, T y) { return a * x + y; }

//@ extent x[n], y[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
template <typename T>
__global__ void axpy(const T* x, T* y, int n, T a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fused(a, x[i], y[i]);
}

template __global__ void axpy<float>(const float*, float*, int, float);
template __global__ void axpy<double>(const double*, double*, int, double);
template __device__ int fused<int>(int, int, int);
