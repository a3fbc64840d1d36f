// Threads write, fence, and read their neighbour's slot.
// Broken: a fence (line 8) waits for nobody: the neighbour may not have written yet (lines 7 and 9). An answer of
// unknown that names the fence would be right too.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __threadfence_block();
  y[t] = s[t ^ 1];
}
