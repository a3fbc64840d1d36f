// expect: refuted bounds line 18
// check: --grid 1 --block 32 --arg sorted=s32[40]=iota --arg keys=s32[32]=[99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99,99] --arg w=f32[40] --arg out=f32[32]:out --arg n=40 --arg m=32
// What is not found is -1, and used.
__device__ int search(const int *a, int n, int key)
{
    for (int k = 0; k < n; k++)
        if (a[k] == key)
            return k;
    return -1;
}

//@ extent sorted[n], keys[m], w[n], out[m];
//@ requires 0 <= n <= 1000000000 && m >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void lookup(const int *sorted, const int *keys, const float *w, float *out, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m)
        out[i] = w[search(sorted, n, keys[i])];
}
