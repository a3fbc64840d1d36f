// Gather in a scattered order: element i comes from i * stride modulo n.
// Broken: the product is taken in 32 bits. With stride = 100000007 it wraps at i = 22 to -2094967142, whose remainder by
// 250 is -142: thread 22 of block 0 reads x[-142] (line 9), and so do others wherever the product wraps to below zero.

extern "C" __global__ void scatter_order(const float* __restrict__ x, float* __restrict__ y, int stride, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int j = i * stride % n;
  float v = x[j];
  y[i] = v;
}
