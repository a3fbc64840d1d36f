// expect: proved
// check: --grid 1 --block 8 --arg m=f32[96] --arg v=f32[12] --arg y=f32[8]:out --arg rows=8 --arg cols=12
// Both pointers walk along a row.
//@ extent m[rows*cols], v[cols], y[rows];
//@ requires rows >= 0 && cols >= 0 && rows*cols <= 2147483647 && gridDim.x*blockDim.x <= 2147483647;
__global__ void mat_vec(const float* m, const float* v, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    const float* p = m + row * cols;
    const float* q = v;
    float sum = 0.0f;
    for (int k = 0; k < cols; ++k) sum += *p++ * *q++;
    y[row] = sum;
  }
}
