// The four bytes of a word choose from a table of 256 elements.
// Broken: the mask has nine bits. With words[0] = 511 the first read is of table[511] (line 8).

extern "C" __global__ void byte_tables(const float* table, const unsigned* words, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < 4; k++) sum += table[(words[i] >> 8 * k) & 511];
  y[i] = sum;
}
