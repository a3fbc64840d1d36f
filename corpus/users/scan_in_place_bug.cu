// expect: refuted races line 14
// check: --grid 1 --block 64 --arg data=s32[64]:inout
// Prefix sum in place: the neighbour's value is read while he adds to it.
//@ extent data[blockDim.x];
//@ requires gridDim.x == 1 && blockDim.x >= 2;
__global__ void scan(int *data)
{
    extern __shared__ int unused[];
    int t = threadIdx.x;
    for (int stride = 1; stride < blockDim.x; stride *= 2)
    {
        __syncthreads();
        if (t >= stride)
            data[t] += data[t - stride];
    }
}
