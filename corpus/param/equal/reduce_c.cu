// Rows of which each is summed by a thread.
//@ extent in[rows*n], out[rows];
//@ requires rows == gridDim.x*blockDim.x && rows*n <= 2147483647 && n >= 1;
__global__ void rows_by_threads(const float* in, float* out, int rows, int n) {
  int r = blockIdx.x*blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < n; j++) sum += in[r*n + j];
  out[r] = sum;
}
