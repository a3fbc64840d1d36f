// Count the elements of each class, where element i is of class i modulo 8.
// Broken: the launch gives counts as it comes, and nobody clears it: thread 0 of block 0 adds to counts[0] (line 7).
// Both twins are the same kernel.
extern "C" __global__ void count_classes(int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(counts + i % 8, 1);
  }
}
