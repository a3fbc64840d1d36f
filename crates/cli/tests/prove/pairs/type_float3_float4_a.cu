// the reference
#include <cuda_fp16.h>
#include <cuda_bf16.h>
//@ extent a[n], c[n];
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void k(const float3* a, float3* c, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) { c[i].x = a[i].x; c[i].y = a[i].y; c[i].z = a[i].z; }
}
