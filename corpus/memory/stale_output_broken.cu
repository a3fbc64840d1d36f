// Matrix times vector, one row per thread.
// Broken: the sum is built in y itself, which starts with whatever was there: thread t of block b reads y[64*b + t]
// before anyone has written it (line 8).
extern "C" __global__ void matvec(const float* a, const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int k = 0; k < cols; k++)
    y[row] += a[row * cols + k] * x[k];
}
