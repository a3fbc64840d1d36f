// Matrix times vector, one row per thread.
// Fixed: the sum starts at zero in a register.

extern "C" __global__ void matvec(const float* a, const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < cols; k++)
    sum += a[row * cols + k] * x[k];
  y[row] = sum;
}
