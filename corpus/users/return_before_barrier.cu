// expect: refuted barriers line 12
// Threads past the end leave before the barrier.
//@ extent in[n], out[n];
//@ requires n >= 1 && blockDim.x == 32 && gridDim.x*blockDim.x <= 2147483647;
__global__ void reverse(const float *in, float *out, int n)
{
    __shared__ float tile[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[threadIdx.x];
}
