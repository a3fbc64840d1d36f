// expect: proved
// check: --grid 2 --block 64 --arg in=f32[128] --arg out=f32[2]:out
// The block as a cooperative group; its sync is the barrier.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

//@ extent in[gridDim.x*blockDim.x], out[gridDim.x];
//@ requires blockDim.x == 64 && gridDim.x*blockDim.x <= 2147483647;
__global__ void block_sum(const float* in, float* out) {
  __shared__ float temp[64];
  cg::thread_block block = cg::this_thread_block();
  unsigned lane = block.thread_rank();
  temp[lane] = in[blockIdx.x * blockDim.x + lane];
  block.sync();
  for (unsigned i = block.size() / 2; i > 0; i /= 2) {
    if (lane < i) temp[lane] += temp[lane + i];
    cg::sync(block);
  }
  if (lane == 0) out[blockIdx.x] = temp[0];
}
