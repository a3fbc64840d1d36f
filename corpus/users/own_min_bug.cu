// expect: refuted bounds line 12
// check: --grid 1 --block 32 --arg in=f32[30] --arg out=f32[30]:out --arg n=30
// The user's `min` is the larger one, which the kernel must be read with.
__device__ int min(int a, long b) { return a > b ? a : (int)b; }

//@ extent in[n], out[n];
//@ requires 1 <= n <= 1000000 && gridDim.x*blockDim.x <= 1000000;
__global__ void shift(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[min(i + 4, (long)n - 1)];
}
