// Sum of all elements by atomic addition.
// Additions commute and nobody uses their results.
extern "C" __global__ void kernel(const int* __restrict__ x, int* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  atomicAdd(&y[i % 4], x[i]);
}
