// 3x3 box filter of an image, through a shared tile with a halo of one; zero beyond the edges.
// Broken: the four edges of the halo are filled, its corners are not. In every block threads (0,0), (15,0), (0,15) and
// (15,15) read tile[0], tile[17], tile[306] and tile[323] of the flat tile (line 26): never written, and the sum goes
// to y (line 27).
#define SIDE 16

__device__ __forceinline__ float pixel(const float* x, int row, int col, int h, int w) {
  return row >= 0 && row < h && col >= 0 && col < w ? x[row * w + col] : 0.0f;
}

extern "C" __global__ void box_filter(const float* __restrict__ x, float* __restrict__ y, int h, int w) {
  __shared__ float tile[SIDE + 2][SIDE + 2];
  int tx = threadIdx.x, ty = threadIdx.y;
  int col = blockIdx.x * SIDE + tx;
  int row = blockIdx.y * SIDE + ty;
  tile[ty + 1][tx + 1] = pixel(x, row, col, h, w);
  if (tx == 0) tile[ty + 1][0] = pixel(x, row, col - 1, h, w);
  if (tx == SIDE - 1) tile[ty + 1][SIDE + 1] = pixel(x, row, col + 1, h, w);
  if (ty == 0) tile[0][tx + 1] = pixel(x, row - 1, col, h, w);
  if (ty == SIDE - 1) tile[SIDE + 1][tx + 1] = pixel(x, row + 1, col, h, w);
  __syncthreads();
  if (row < h && col < w) {
    float sum = 0.0f;
    for (int dy = 0; dy < 3; dy++)
      for (int dx = 0; dx < 3; dx++)
        sum += tile[ty + dy][tx + dx];
    y[row * w + col] = sum * (1.0f / 9.0f);
  }
}
