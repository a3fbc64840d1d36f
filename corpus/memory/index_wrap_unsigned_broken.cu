// Difference to the left neighbour; the first element has none.
// Broken: for i = 0 the unsigned i - 1 wraps to 4294967295, and thread 0 of block 0 reads x there, 16 GiB on (line 8).

extern "C" __global__ void left_difference(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float here = x[i];
  float left = x[i - 1];
  y[i] = i > 0 ? here - left : here;
}
