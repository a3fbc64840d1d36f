// What softmax makes of values, a thread for each row, in three passes.
//@ extent x[rows*cols], v[cols], y[rows];
//@ requires rows == gridDim.x*blockDim.x && cols >= 1 && rows*cols <= 2147483647;
__global__ void passes(const float* x, const float* v, float* y, int rows, int cols) {
  int r = blockIdx.x*blockDim.x + threadIdx.x;
  float m = -INFINITY, l = 0, acc = 0;
  for (int c = 0; c < cols; c++) m = fmaxf(m, x[r*cols + c]);
  for (int c = 0; c < cols; c++) l += expf(x[r*cols + c] - m);
  for (int c = 0; c < cols; c++) acc += expf(x[r*cols + c] - m)/l*v[c];
  y[r] = acc;
}
