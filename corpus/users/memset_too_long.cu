// expect: refuted bounds line 11
// check: --grid 1 --block 16 --arg out=f32[16]:out --arg n=16
// The size is one of elements of another type: the local array is overrun.
#include <string.h>

//@ extent out[n];
//@ requires 1 <= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void clear_local(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float window[8];
  memset(window, 0, 8 * sizeof(double));
  if (i < n) out[i] = window[i & 7];
}
