// expect: refuted bounds line 12
// check: --grid 1 --block 32 --arg in=f32[20] --arg out=f32[20]:out --arg n=20
// One too many where it is mirrored at the right: n itself stays n.
__device__ int mirror(int i, int n) { return i < 0 ? -i : i < n ? i : 2 * n - i; }

//@ extent in[n], out[n];
//@ requires 4 <= n <= 100000000 && gridDim.x*blockDim.x <= 100000000;
__global__ void blur3(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (in[mirror(i - 1, n)] + in[i] + in[mirror(i + 1, n)]) / 3;
}
