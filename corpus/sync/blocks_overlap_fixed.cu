// Each block writes its own part of y.
// Fixed: the parts do not overlap.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  int t = threadIdx.x;
  for (int i = t; i < 64; i += 32) {
    int j = blockIdx.x * 64 + i;
    y[j] = x[j] * (blockIdx.x + 1);
  }
}
