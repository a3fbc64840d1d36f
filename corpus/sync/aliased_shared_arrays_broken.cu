// Two arrays cut out of one block of dynamic shared memory.
// Broken: the second array begins too early (line 8): a[t + 32] and b[t] are one place, written by threads t + 32
// (line 9) and t (line 10).
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  extern __shared__ float buf[];
  int t = threadIdx.x;
  float* a = buf;
  float* b = buf + 32;
  a[t] = x[t];
  b[t] = 2.0f * x[t];
  __syncthreads();
  y[t] = a[63 - t] + b[63 - t];
}
