// expect: refuted races line 11
// check: --grid 1 --block 16,16 --arg in=f32[256] --arg out=f32[256]:out --arg pitch=16
// The tile's row is shared by all rows of the block.
#include "own_header.h"

//@ extent in[pitch*blockDim.y], out[pitch*blockDim.y];
//@ requires pitch == TILE_W && blockDim.x == TILE_W && blockDim.y == 16 && gridDim.x == 1 && gridDim.y == 1;
__global__ void flip_rows(const float* in, float* out, int pitch) {
  __shared__ float row[TILE_W];
  int at = threadIdx.y * pitch + threadIdx.x;
  row[threadIdx.x] = in[at];
  __syncthreads();
  out[at] = row[TILE_W - 1 - threadIdx.x];
}
