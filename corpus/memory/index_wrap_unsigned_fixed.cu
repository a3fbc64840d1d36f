// Difference to the left neighbour; the first element has none.
// Fixed: the neighbour is read only where there is one.

extern "C" __global__ void left_difference(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float here = x[i];
  float left = i > 0 ? x[i - 1] : 0.0f;
  y[i] = i > 0 ? here - left : here;
}
