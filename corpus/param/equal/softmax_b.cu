// Softmax of rows, a thread for each: first the maximum, then the sum, then the quotients.
//@ extent x[rows*cols], y[rows*cols];
//@ requires rows == gridDim.x*blockDim.x && cols >= 1 && rows*cols <= 2147483647;
__global__ void passes(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x*blockDim.x + threadIdx.x;
  float m = -INFINITY, l = 0;
  for (int c = 0; c < cols; c++) m = fmaxf(m, x[r*cols + c]);
  for (int c = 0; c < cols; c++) l += expf(x[r*cols + c] - m);
  for (int c = 0; c < cols; c++) y[r*cols + c] = expf(x[r*cols + c] - m)/l;
}
