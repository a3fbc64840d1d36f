// expect: proved
// check: --grid 2 --block 32 --arg a=f32[50] --arg b=f32[50] --arg c=f32[50]:out --arg n=50
// Vector sum as in a first CUDA course, with an occupancy hint.
#include <stdio.h>

#define THREADS_PER_BLOCK 256

//@ extent a[n], b[n], c[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void __launch_bounds__(THREADS_PER_BLOCK, 4)
vectorAdd(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}
