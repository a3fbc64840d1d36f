// Transpose through a 16 by 16 shared tile, each block two tiles one after the other.
// Broken: no barrier between filling and reading the tile: thread (tx, ty) reads tile[tx][ty] (line 13), which thread
// (ty, tx) writes (line 12).
#define SIDE 16
#define N 32

extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float tile[SIDE][SIDE + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE;
  for (int col = 0; col < N; col += SIDE) {
    tile[ty][tx] = x[(row + ty) * N + col + tx];
    y[(col + ty) * N + row + tx] = tile[tx][ty];
    __syncthreads();
  }
}
