// The barrier's number is computed.
// Broken: barrier 16 (line 8): there are 16, numbered from 0.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  int id = n + 1;
  asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory");
  y[t] = s[63 - t];
}
