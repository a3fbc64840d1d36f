// expect: refuted bounds line 10
// check: --grid 1 --block 16 --arg x=f32[42] --arg y=f32[42]:out --arg n=42
// Rounded up, and the length is not a multiple of four.
//@ extent x[n], y[n];
//@ requires n >= 1 && n <= 1000000 && gridDim.x*blockDim.x <= 1000000;
__global__ void copy4(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (n + 3) / 4)
        reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(x)[i];
}
