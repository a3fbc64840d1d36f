// assumed: defined at: a quotient that cancels
//@ extent a[n], c[n];
//@ requires blockDim.y == 1 && blockDim.z == 1 && gridDim.y == 1 && gridDim.z == 1;
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void k(const float* a, float* c, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + (i >= 700000 ? 1.0f/a[i] - 1.0f/a[i] : 0.0f);
}
