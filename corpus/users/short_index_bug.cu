// expect: refuted bounds,overflow line 8,9,10
// check: --grid 40 --block 1024 --arg x=f32[40960]:out --arg n=40960
// A 16-bit index: larger arrays do not fit.
//@ extent x[n];
//@ requires 0 <= n <= 100000 && gridDim.x*blockDim.x <= 100000;
__global__ void clear(float *x, int n)
{
    short i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 0.0f;
}
