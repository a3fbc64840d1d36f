// Sum of all elements of two blocks in one cell.
// Broken: the first addition (line 6) is atomic within a block only, the second (line 8) everywhere: an addition of one
// block may get lost.
extern "C" __global__ void kernel(const int* __restrict__ x, int* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  atomicAdd_block(&y[0], x[i]);
  __syncthreads();
  atomicAdd(&y[0], x[i]);
}
