// Two arrays cut out of one block of dynamic shared memory.
// Fixed: the arrays do not overlap.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  extern __shared__ float buf[];
  int t = threadIdx.x;
  float* a = buf;
  float* b = buf + 64;
  a[t] = x[t];
  b[t] = 2.0f * x[t];
  __syncthreads();
  y[t] = a[63 - t] + b[63 - t];
}
