// expect: refuted bounds line 17
// check: --grid 1 --block 32 --arg in=f32[32] --arg out=f32[32]:out --arg n=32
// The halo of the first and last block is outside of the array.
#define RADIUS 3
#define BLOCK_SIZE 32

//@ extent in[n], out[n];
//@ requires blockDim.x == BLOCK_SIZE && n == gridDim.x*blockDim.x && n <= 2147483000;
__global__ void stencil_1d(int *in, int *out, int n)
{
    __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x;
    int lindex = threadIdx.x + RADIUS;
    temp[lindex] = in[gindex];
    if (threadIdx.x < RADIUS)
    {
        temp[lindex - RADIUS] = in[gindex - RADIUS];
        temp[lindex + BLOCK_SIZE] = in[gindex + BLOCK_SIZE];
    }
    __syncthreads();
    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        result += temp[lindex + offset];
    out[gindex] = result;
}
