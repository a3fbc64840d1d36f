// expect: refuted bounds line 21
// check: --grid 1 --block 32 --arg in=f32[30] --arg out=f32[30]:out --arg n=30
// The loop starts at the degree and not at the last coefficient.
__device__ float horner(float, const float *, int);

__constant__ float coefficients[4] = {1.0f, -0.5f, 0.25f, -0.125f};

//@ extent in[n], out[n];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void evaluate(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = horner(in[i], coefficients, 4);
}

__device__ float horner(float x, const float *c, int degree)
{
    float sum = 0.0f;
    for (int k = degree; k >= 0; --k)
        sum = sum * x + c[k];
    return sum;
}
