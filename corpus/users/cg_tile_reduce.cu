// expect: proved-or-unknown
// check: --grid 1 --block 64 --arg in=f32[64] --arg out=f32[2]:out
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <int SIZE>
__device__ float tile_sum(cg::thread_block_tile<SIZE> tile, float v) {
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  return v;
}

//@ extent in[gridDim.x*blockDim.x], out[gridDim.x*2];
//@ requires blockDim.x == 64 && gridDim.x*blockDim.x <= 2147483647;
__global__ void sums(const float* in, float* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  float v = tile_sum<32>(tile, in[blockIdx.x * blockDim.x + threadIdx.x]);
  if (tile.thread_rank() == 0) out[blockIdx.x * 2 + threadIdx.x / 32] = v;
}
