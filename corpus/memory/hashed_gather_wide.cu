// Gather by a multiplicative hash.
// Five bits of the product choose from sixteen elements (line 6). Which x has them is not searched: unknown.

extern "C" __global__ void hashed_gather(const float* table, const unsigned* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[x[i] * 2654435761u >> 27];
}
