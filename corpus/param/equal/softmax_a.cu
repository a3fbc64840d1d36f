// Softmax of rows, a thread for each: its sum is rescaled whenever a greater element comes.
//@ extent x[rows*cols], y[rows*cols];
//@ requires rows == gridDim.x*blockDim.x && cols >= 1 && rows*cols <= 2147483647;
__global__ void online(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x*blockDim.x + threadIdx.x;
  float m = -INFINITY, l = 0;
  for (int c = 0; c < cols; c++) {
    float next = fmaxf(m, x[r*cols + c]);
    l = l*expf(m - next) + expf(x[r*cols + c] - next);
    m = next;
  }
  for (int c = 0; c < cols; c++) y[r*cols + c] = expf(x[r*cols + c] - m)/l;
}
