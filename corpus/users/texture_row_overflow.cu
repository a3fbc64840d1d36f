// expect: refuted overflow line 9,10
// A row of a large table that lies in one linear texture: its first index overflows long before the table is too large.
//@ extent out[columns];
//@ requires rows >= 1 && columns >= 1 && row >= 0 && row < rows;
//@ requires gridDim.x*blockDim.x <= 2147483647;
__global__ void take_row(float* out, cudaTextureObject_t table, int row, int rows, int columns) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= columns) return;
  int first = row * columns;
  out[x] = tex1Dfetch<float>(table, first + x);
}
