// Threads write words and read parts of others, or write neighbouring bytes.
// Fixed: a barrier between them.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ unsigned s[64];
  int t = threadIdx.x;
  s[t] = __float_as_uint(x[t]);
  __syncthreads();
  y[t] = ((volatile unsigned short*)s)[(2 * t + 3) % 128];
}
