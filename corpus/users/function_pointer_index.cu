// expect: refuted bounds line 11
// check: --grid 1 --block 32 --arg in=f32[32] --arg out=f32[32]:out --arg n=32
// The index functions are chosen by template argument; one of them leaves the array.
typedef int (*index_t)(int, int);
__device__ int mirrored(int i, int n) { return n - 1 - i; }
__device__ int wrapped(int i, int n) { return n - i; }

template <index_t At>
__device__ float load(const float *in, int i, int n)
{
    return in[At(i, n)];
}

//@ extent in[n], out[n];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void reverse(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = load<mirrored>(in, i, n) + load<wrapped>(in, i, n);
}
