// expect: refuted barriers line 19
// The barrier moved into the branch "to save time".
#define N 64

//@ extent in[gridDim.x*blockDim.x], out[gridDim.x];
//@ requires blockDim.x == N && gridDim.x*blockDim.x <= 2147483647;
__global__ void sum(const float *in, float *out)
{
    __shared__ float cache[N];
    int cacheIndex = threadIdx.x;
    cache[cacheIndex] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0)
    {
        if (cacheIndex < i)
        {
            cache[cacheIndex] += cache[cacheIndex + i];
            __syncthreads();
        }
        i /= 2;
    }
    if (cacheIndex == 0)
        out[blockIdx.x] = cache[0];
}
