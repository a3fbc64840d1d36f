// expect: refuted bounds line 12
// check: --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out --arg n=32
// Twice the index and half of it again, says the author; `i + i / 2` says the preprocessor.
#define TWICE(v) v + v

//@ extent x[n], y[n];
//@ requires 1 <= n <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void copy(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[TWICE(i) / 2];
}
