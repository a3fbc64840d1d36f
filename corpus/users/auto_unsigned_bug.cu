// expect: refuted bounds,overflow line 12
// check: --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out --arg n=32
// `auto` is unsigned here: one less than zero is large, and the test against zero always true.
//@ extent x[n], y[n];
//@ requires 1 <= n <= 1000000 && gridDim.x*blockDim.x <= 1000000;
__global__ void left(const float *x, float *y, unsigned n)
{
    auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
    {
        auto j = i - 1;
        y[i] = j >= 0 ? x[j] : 0.0f;
    }
}
