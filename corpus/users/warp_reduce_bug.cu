// expect: refuted bounds line 13
// check: --grid 1 --block 1024 --arg x=f32[1024] --arg out=f32[1]:out
// Room for 16 warps; a block may have 32.
//@ extent x[gridDim.x*blockDim.x], out[gridDim.x];
//@ requires blockDim.x % 32 == 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void block_sum(const float *x, float *out)
{
    __shared__ float partial[16];
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0)
    {
        float s = 0;
        for (int k = 0; k < blockDim.x / 32 && k < 16; k++)
            s += partial[k];
        out[blockIdx.x] = s;
    }
}
