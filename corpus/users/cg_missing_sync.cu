// expect: refuted races line 14
// check: --grid 1 --block 64 --arg in=f32[64] --arg out=f32[64]:out
#include <cooperative_groups.h>
using namespace cooperative_groups;

//@ extent in[blockDim.x], out[blockDim.x];
//@ requires blockDim.x == 64 && gridDim.x == 1;
__global__ void rotate_left(const float *in, float *out)
{
    __shared__ float temp[64];
    thread_block block = this_thread_block();
    temp[block.thread_rank()] = in[threadIdx.x];
    // the group is there, the sync is not
    out[threadIdx.x] = temp[(threadIdx.x + 1) % 64];
}
