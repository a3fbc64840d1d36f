// refused: an array of another shape
__device__ float w[3][2];
//@ extent a[n], c[n];
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void k(const float* a, float* c, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) c[i] = w[1][1];
}
