// expect: proved
// check: --grid 1 --block 32 --arg x=u32[30]=iota --arg y=u32[30]:inout=iota --arg n2=30 --arg a=0.5
// Pairs of half floats.
#include <cuda_fp16.h>

//@ extent x[n2], y[n2];
//@ requires n2 >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void haxpy(const half2* x, half2* y, int n2, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n2) {
    half2 s = __float2half2_rn(a);
    y[i] = __hfma2(s, x[i], y[i]);
    half low = __low2half(y[i]);
    if (__half2float(low) < 0.0f) y[i] = __hneg2(y[i]);
  }
}
