// expect: refuted races line 13
// check: --grid 1 --block 8 --arg states=u32[6]:inout=iota --arg out=f32[8]:out
// One generator for the whole block: every thread changes it.
#include <curand_kernel.h>

//@ extent states[gridDim.x], out[gridDim.x*blockDim.x];
//@ requires blockDim.x >= 2 && gridDim.x*blockDim.x <= 2147483647;
__global__ void noise(curandState *states, float *out)
{
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    curandState local = states[blockIdx.x];
    out[id] = curand_uniform(&local);
    states[blockIdx.x] = local;
}
