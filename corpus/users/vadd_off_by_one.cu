// expect: refuted bounds line 13
// check: --grid 2 --block 32 --arg a=f32[50] --arg b=f32[50] --arg c=f32[50]:out --arg n=50
#include <stdio.h>

//@ extent a[n], b[n], c[n];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void __launch_bounds__(256)
vectorAdd(const float *a, const float *b, float *c, const int n)
{
    const int tid = threadIdx.x + blockIdx.x * blockDim.x;
    // one element too many
    if (tid <= n)
        c[tid] = a[tid] + b[tid];
}
