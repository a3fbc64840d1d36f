// Count the elements of each class, where element i is of class i modulo 8.
// Fixed: the launch gives counts cleared.
// Both twins are the same kernel.
extern "C" __global__ void count_classes(int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(counts + i % 8, 1);
  }
}
