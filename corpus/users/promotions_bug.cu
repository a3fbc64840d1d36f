// expect: refuted bounds line 10
// check: --grid 1 --block 32 --arg a=u8[32]=[200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200] --arg b=u8[32]=[100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100] --arg lut=u8[256] --arg out=u8[32]:out --arg n=32
// The author expects the sum of two bytes to be a byte.
//@ extent a[n], b[n], lut[256], out[n];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void blend(const unsigned char *a, const unsigned char *b, const unsigned char *lut, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = lut[a[i] + b[i]];
}
