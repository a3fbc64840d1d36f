// A maximum of what is there, then a sum on top.
// Broken: the barrier (line 7) orders maximum (line 6) and addition (line 8) of a block; but one block's maximum and the
// other's addition are in any order.
extern "C" __global__ void kernel(const int* __restrict__ x, int* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  atomicMax(&y[0], x[i]);
  __syncthreads();
  atomicAdd(&y[0], x[i]);
}
