// Write to global memory and read the neighbour's element.
// Broken: no barrier: thread t ^ 1 may not have written yet (lines 6 and 7). Races in global memory count as those in
// shared memory.
extern "C" __global__ void kernel(const float* x, float* y, float* z) {
  int t = blockIdx.x * 64 + threadIdx.x;
  y[t] = 2.0f * x[t];
  z[t] = y[t ^ 1];
}
