// expect: refuted races line 14
// check: --grid 1 --block 64 --arg x=f32[80] --arg y=f32[80]:out --arg cols=80
// The scratch is used again before all have read its first element.
__device__ float block_sum(float v, float *scratch)
{
    scratch[threadIdx.x] = v;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1)
    {
        if (threadIdx.x < s)
            scratch[threadIdx.x] += scratch[threadIdx.x + s];
        __syncthreads();
    }
    return scratch[0];
}

//@ extent x[gridDim.x*cols], y[gridDim.x*cols];
//@ requires cols >= 1 && cols <= 1000000 && gridDim.x*cols <= 1000000000 && blockDim.x == 64;
__global__ void centre(const float *x, float *y, int cols)
{
    __shared__ float scratch[64];
    float s = 0.f, q = 0.f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
    {
        s += x[blockIdx.x * cols + c];
        q += 1.0f;
    }
    float total = block_sum(s, scratch);
    float count = block_sum(q, scratch);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[blockIdx.x * cols + c] = x[blockIdx.x * cols + c] - total / count;
}
