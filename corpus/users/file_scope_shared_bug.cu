// expect: refuted races line 11
// check: --grid 1 --block 64 --arg in=f32[64] --arg out=f32[64]:out
// The last value is wanted by all, written by one, with no barrier between.
__shared__ float last;

//@ extent in[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1 && blockDim.x >= 2;
__global__ void subtract_last(const float *in, float *out)
{
    if (threadIdx.x == blockDim.x - 1)
        last = in[threadIdx.x];
    out[threadIdx.x] = in[threadIdx.x] - last;
}
