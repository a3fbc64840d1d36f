// expect: refuted invariant line 10
// The launch may have more threads than elements.
#include <assert.h>

//@ extent x[n];
//@ requires 1 <= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void checked(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < n);
    if (i < n)
        x[i] += 1.0f;
}
