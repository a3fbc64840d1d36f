// Threads write words and read parts of others, or write neighbouring bytes.
// Broken: thread t reads two bytes of the word of thread t + 1 (line 7), which that thread writes as four (line 6).
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ unsigned s[64];
  int t = threadIdx.x;
  s[t] = __float_as_uint(x[t]);
  y[t] = ((volatile unsigned short*)s)[(2 * t + 3) % 128];
}
