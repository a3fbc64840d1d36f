// Scale a vector.
// Fixed: threads past n leave.
extern "C" __global__ void scale(const float* __restrict__ x, float* __restrict__ y, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = alpha * v;
}
