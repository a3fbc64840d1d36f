// Each element becomes the mean of its neighbours, ends fixed.
// Broken: in place: at the edge of a block thread 0 reads y[i - 1] (line 7) of the block before, which its thread 31
// writes (line 9), and thread 31 reads one of the next block; the barrier orders the block alone.
extern "C" __global__ void kernel(const float* x, float* y) {
  int i = blockIdx.x * 32 + threadIdx.x;
  int n = gridDim.x * 32;
  float v = i > 0 && i + 1 < n ? (y[i - 1] + y[i + 1]) * 0.5f : y[i];
  __syncthreads();
  y[i] = v + x[i];
}
