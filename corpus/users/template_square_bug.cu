// expect: refuted bounds,overflow line 14
// check: --grid 1 --block 32 --arg k=u8[32]=[200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200] --arg out=s32[256]:inout --arg n=32
// Deduced as `unsigned char`, the square is cut to a byte; given as `int` it is not, and the array is as long as for bytes.
template <typename T> __device__ T square(T v) { return (T)(v * v); }

//@ extent k[n], out[256];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void bin(const unsigned char *k, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
    {
        atomicAdd(&out[square<unsigned char>(k[i])], 1);
        atomicAdd(&out[square<int>(k[i])], 1);
    }
}
