// One thread for each row.
//@ extent x[rows*cols], y[rows*cols];
//@ requires rows >= 0 && cols >= 1 && rows*cols <= 2147483647 && gridDim.x*blockDim.x <= 2147483647;
__global__ void layer_norm(const float* x, float* y, int rows, int cols, float eps) {
  int row = blockIdx.x*blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float mean = 0, var = 0;
  for (int c = 0; c < cols; c++) mean += x[row*cols + c];
  mean /= cols;
  for (int c = 0; c < cols; c++) {
    float d = x[row*cols + c] - mean;
    var += d*d;
  }
  float r = rsqrtf(var/cols + eps);
  for (int c = 0; c < cols; c++) y[row*cols + c] = (x[row*cols + c] - mean)*r;
}
