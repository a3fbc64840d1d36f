// Gather from a table by the lowest bits of any integers.
// Broken: the mask has four bits, the table eight elements. x[0] = 15 reads table[15] (line 7).

extern "C" __global__ void masked_gather(const float* table, const int* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = table[x[i] & 15];
}
