// Gather by a multiplicative hash: the four highest bits of a product that wraps around.

extern "C" __global__ void hashed_gather(const float* table, const unsigned* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[x[i] * 2654435761u >> 28];
}
