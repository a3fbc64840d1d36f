// expect: refuted bounds line 14
// check: --grid 2 --block 32 --arg a=f32[64] --arg small=f32[16] --arg out=f32[64]:out --arg n=64 --arg m=16
// One of the arrays that the pointer may point to is shorter.
//@ extent a[n], small[m], out[n];
//@ requires 0 <= m < n && gridDim.x*blockDim.x <= 2147483647;
__global__ void choose(const float *a, const float *small, float *out, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *src = a;
    if (blockIdx.x % 2 == 1)
        src = small;
    out[i] = src[i];
}
