#define TILE 32
#define ROWS 8
//@ extent in[batch*rows*cols], out[batch*rows*cols];
//@ requires blockDim.x == TILE && blockDim.y == ROWS && blockDim.z == 1 && gridDim.z == batch;
//@ requires rows >= 1 && cols >= 1 && batch*rows*cols <= 2147483647 && gridDim.x*TILE <= 2147483647;
__global__ void transposeBatched(float *out, const float *in, int rows, int cols, int batch) {
  __shared__ float tile[TILE][TILE+1];
  const float* src = in + (size_t)blockIdx.z * rows * cols;
  float* dst = out + (size_t)blockIdx.z * rows * cols;
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = src[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (x < rows && y + j < cols) dst[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
