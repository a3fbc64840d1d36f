// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32]:inout --arg n=32
// An assertion that always holds.
#include <assert.h>

//@ extent x[n];
//@ requires 1 <= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void checked(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i >= 0 && "index");
  int j = i % n;
  assert(j < n);
  if (i == j) x[j] += 1.0f;
}
