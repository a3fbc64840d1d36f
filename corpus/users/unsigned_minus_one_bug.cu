// expect: refuted bounds,overflow line 9,10
// check: --grid 1 --block 32 --arg x=f32[1] --arg y=f32[1]:out --arg n=0
// With n == 0 the limit is 4294967295.
//@ extent x[n], y[n];
//@ requires gridDim.x*blockDim.x <= 1000000;
__global__ void differences(const float *x, float *y, unsigned int n)
{
    unsigned int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n - 1)
        y[i] = x[i + 1] - x[i];
}
