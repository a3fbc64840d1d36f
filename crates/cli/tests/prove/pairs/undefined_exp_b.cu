// not proved: quotients that cancel beyond a number
//@ extent a[n], b[n], c[n];
//@ requires n >= 1 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 1000000;
__global__ void k(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) c[i] = i < 70000 ? 0 : expf(a[i])/b[i] - expf(a[i] + 1)*expf(-1.0f)/b[i];
}
