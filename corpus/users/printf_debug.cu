// expect: proved
// check: --grid 1 --block 32 --arg x=f32[30]=iota --arg y=f32[30]:out --arg n=30
#include <stdio.h>
#include <cuda_runtime.h>

//@ extent x[n], y[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void debug_copy(const float* x, float* y, int n) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid == 0) printf("n = %d, first = %f\n", n, n > 0 ? x[0] : 0.0f);
  if (tid < n) {
    y[tid] = x[tid];
    if (isnan(y[tid])) printf("NaN at %d (block %d, thread %d)\n", tid, blockIdx.x, threadIdx.x);
  }
}
