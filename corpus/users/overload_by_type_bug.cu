// expect: refuted bounds line 15
// check: --grid 1 --block 32 --arg y=f32[16]:inout --arg n=32
// The unsigned overload is not the safe one, and `threadIdx.x` is unsigned.
__device__ int cell(int i) { return i & 15; }
__device__ int cell(unsigned i) { return (int)i; }

//@ extent y[16];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void scatter(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
    {
        atomicAdd(&y[cell(i)], 1.0f);
        atomicAdd(&y[cell(threadIdx.x)], 1.0f);
    }
}
