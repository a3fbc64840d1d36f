// expect: refuted races line 15
// check: --grid 1 --block 32 --arg x=f32[32]=iota --arg y=f32[32]:out --arg n=32
// The index is declared again inside: outside it is still 0.
//@ extent x[n], y[n];
//@ requires n >= 2 && gridDim.x*blockDim.x <= 2147483647;
__global__ void copy(const float *x, float *y, int n)
{
    int at = 0;
    if (threadIdx.x + blockIdx.x * blockDim.x < n)
    {
        int at = threadIdx.x + blockIdx.x * blockDim.x;
        if (x[at] < 0.0f)
            return;
    }
    y[at] = (float)threadIdx.x;
}
