// Each block writes its own part of y.
// Broken: each block writes one element too many (line 8): y[64] and y[128] are written by thread 0 of two blocks,
// with different values. Blocks are never ordered.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  int t = threadIdx.x;
  for (int i = t; i < 65; i += 32) {
    int j = blockIdx.x * 64 + i;
    if (j < 192) y[j] = x[j] * (blockIdx.x + 1);
  }
}
