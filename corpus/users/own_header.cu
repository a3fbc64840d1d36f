// expect: proved
// check: --grid 2,3 --block 16,4 --arg in=f32[240] --arg out=f32[240]:out --arg size={0:24,4:10}
#include "own_header.h"

//@ extent in[size.width*size.height], out[size.width*size.height];
//@ requires size.width >= 1 && size.height >= 1 && size.width*size.height <= 2147483647;
//@ requires gridDim.x*blockDim.x <= 2147483647 && gridDim.y*blockDim.y <= 2147483647;
__global__ void scale_image(const float* in, float* out, Size2 size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < size.width && y < size.height) {
    int at = flat(size, x, y);
    out[at] = 2.0f * in[at];
  }
}
