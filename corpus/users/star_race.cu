// expect: refuted races line 10
// check: --grid 1 --block 32 --arg x=f32[32]=iota --arg found=s32[1]:inout --arg n=32 --arg key=0.0
// The place where it was found: several threads may have found it.
//@ extent x[n], found[1];
//@ requires n >= 2 && gridDim.x*blockDim.x <= 2147483647;
__global__ void find(const float *x, int *found, int n, float key)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] >= key)
        *found = i;
}
