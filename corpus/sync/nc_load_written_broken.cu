// Write to global memory, meet, and read the neighbour's element.
// Broken: ld.global.nc (line 8) reads by way of a cache that knows nothing of writes of the same launch (line 6); a
// barrier does not help.
extern "C" __global__ void kernel(const float* x, float* y, float* z) {
  int t = threadIdx.x;
  y[t] = 2.0f * x[t];
  __syncthreads();
  z[t] = __ldg(&y[t ^ 1]);
}
