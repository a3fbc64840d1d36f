// expect: refuted bounds line 12
// check: --grid 1 --block 32 --arg masks=u32[32]=iota --arg seen=s32[32]:inout --arg n=32
// No bit set: `__ffs` is 0, the index -1.
//@ extent masks[n], seen[32];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void lowest(const unsigned *masks, int *seen, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
    {
        int bit = __ffs(masks[i]) - 1;
        atomicOr(&seen[bit], 1);
    }
}
