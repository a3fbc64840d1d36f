// Transpose through a 16 by 16 shared tile, each block two tiles one after the other.
// Broken: no barrier before the tile is filled again: in the second round thread (ty, tx) writes tile[tx][ty] (line
// 12) while thread (tx, ty) still reads it (line 14).
#define SIDE 16
#define N 32

extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float tile[SIDE][SIDE + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE;
  for (int col = 0; col < N; col += SIDE) {
    tile[ty][tx] = x[(row + ty) * N + col + tx];
    __syncthreads();
    y[(col + ty) * N + row + tx] = tile[tx][ty];
  }
}
