// not proved: a root of a negative number that cancels
//@ extent a[n], c[n];
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void k(const float* a, float* c, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + (i >= 70000 ? sqrtf(a[i]) - sqrtf(a[i]) : 0.0f);
}
