// Gather in a scattered order: element i comes from i * stride modulo n.
// Fixed: the product is taken in 64 bits.


extern "C" __global__ void scatter_order(const float* __restrict__ x, float* __restrict__ y, int stride, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int j = static_cast<int>(static_cast<long long>(i) * stride % n);
  float v = x[j];
  y[i] = v;
}
