// expect: refuted races line 16
// prelude: gpuverify
// check: --grid 1 --block 32 --arg x=s32[65]:inout --arg n=64
// The annotation does not help: the stride is one less than the block.
//@ extent x[n + 1];
__global__ void strided(int *x, int n)
{
    __requires(n >= 32);
    __requires(n <= 1000000);
    __requires(gridDim.x == 1);
    __requires(blockDim.x == 32);
    for (int i = threadIdx.x;
         __invariant(i >= 0), i < n;
         i += blockDim.x - 1)
    {
        x[i] = (int)threadIdx.x;
    }
}
