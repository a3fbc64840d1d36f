// Each element becomes the mean of its neighbours, ends fixed.
// Fixed: from x to y.
extern "C" __global__ void kernel(const float* x, float* y) {
  int i = blockIdx.x * 32 + threadIdx.x;
  int n = gridDim.x * 32;
  float v = i > 0 && i + 1 < n ? (x[i - 1] + x[i + 1]) * 0.5f : x[i];
  y[i] = v + x[i];
}
