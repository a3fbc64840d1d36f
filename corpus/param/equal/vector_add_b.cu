// Any number of threads.
//@ extent a[n], b[n], c[n];
//@ requires n >= 0 && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void add_stride(const float* a, const float* b, float* c, int n) {
  for (int i = blockIdx.x*blockDim.x + threadIdx.x; i < n; i += gridDim.x*blockDim.x)
    c[i] = b[i] + a[i];
}
