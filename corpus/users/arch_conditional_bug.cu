// expect: refuted races line 13
// check: --grid 1 --block 64 --arg x=f32[64] --arg out=f32[64]:out
// The barrier is only there for old GPUs.
//@ extent x[64], out[64];
//@ requires blockDim.x == 64 && gridDim.x == 1;
__global__ void reverse(const float *x, float *out)
{
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
#if __CUDA_ARCH__ < 700
    __syncthreads();
#endif
    out[threadIdx.x] = s[63 - threadIdx.x];
}
