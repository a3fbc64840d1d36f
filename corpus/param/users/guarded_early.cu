//@ extent x[n], y[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void relu_grad(const float *x, float *y, const int n) {
  const int idx = blockDim.x * blockIdx.x + threadIdx.x;
  if (idx >= n) return;
  float v = x[idx];
  if (v < 0.f) { y[idx] = 0.f; return; }
  y[idx] *= v > 6.f ? 0.f : 1.f;
}
