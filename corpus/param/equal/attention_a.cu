// What softmax makes of values, a thread for each row: maximum, sum and weighted sum in one pass.
//@ extent x[rows*cols], v[cols], y[rows];
//@ requires rows == gridDim.x*blockDim.x && cols >= 1 && rows*cols <= 2147483647;
__global__ void online(const float* x, const float* v, float* y, int rows, int cols) {
  int r = blockIdx.x*blockDim.x + threadIdx.x;
  float m = -INFINITY, l = 0, acc = 0;
  for (int c = 0; c < cols; c++) {
    float next = fmaxf(m, x[r*cols + c]);
    float scale = expf(m - next), p = expf(x[r*cols + c] - next);
    l = l*scale + p;
    acc = acc*scale + p*v[c];
    m = next;
  }
  y[r] = acc/l;
}
