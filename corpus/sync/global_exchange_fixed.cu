// Write to global memory and read the neighbour's element.
// Fixed: the barrier orders global memory within the block; blocks do not meet in their elements.
extern "C" __global__ void kernel(const float* x, float* y, float* z) {
  int t = blockIdx.x * 64 + threadIdx.x;
  y[t] = 2.0f * x[t];
  __syncthreads();
  z[t] = y[t ^ 1];
}
