// Layer norm of rows, a thread for each.
//@ extent x[rows*n], y[rows*n];
//@ requires rows == gridDim.x*blockDim.x && n >= 1 && rows*n <= 2147483647;
__global__ void norm_by_threads(const float* x, float* y, int rows, int n, float eps) {
  int r = blockIdx.x*blockDim.x + threadIdx.x;
  float a = 0, l = 0;
  for (int c = 0; c < n; c++) a += x[r*n + c];
  float mean = a/n;
  for (int c = 0; c < n; c++) { float d = x[r*n + c] - mean; l += d*d; }
  float q = rsqrtf(l/n + eps);
  for (int c = 0; c < n; c++) y[r*n + c] = (x[r*n + c] - mean)*q;
}
