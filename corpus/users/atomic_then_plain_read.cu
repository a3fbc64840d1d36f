// expect: refuted races line 10
// check: --grid 1 --block 64 --arg x=s32[64] --arg total=s32[1]:inout --arg out=s32[64]:out
// Added atomically, read plainly by others without a barrier.
//@ extent x[blockDim.x], total[1], out[blockDim.x];
//@ requires gridDim.x == 1 && blockDim.x >= 2;
__global__ void normalise(const int *x, int *total, int *out)
{
    int t = threadIdx.x;
    atomicAdd(total, x[t]);
    out[t] = x[t] - *total;
}
