// the reference
#include <cuda_fp16.h>
#include <cuda_bf16.h>
//@ extent a[n], c[n];
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void k(const float2* a, float* c, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i].x;
}
