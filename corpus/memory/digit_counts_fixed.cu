// Counts of a digit of keys, as in a radix sort: bits 4 to 7, so a number from 0 to 15.

extern "C" __global__ void digit_counts(const unsigned* keys, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[(keys[i] >> 4) & 15], 1);
}
