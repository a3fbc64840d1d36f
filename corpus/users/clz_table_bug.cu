// expect: refuted bounds line 10
// check: --grid 1 --block 32 --arg x=u32[32]=iota --arg bucket=s32[32]:inout --arg n=32
// Zero has 32 leading zeros.
//@ extent x[n], bucket[32];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void magnitudes(const unsigned int *x, int *bucket, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bucket[__clz(x[i])], 1);
}
