// Threads write words and read parts of others, or write neighbouring bytes.
// Threads write and read single bytes side by side: no byte is shared, so there is no race, even within one word.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ unsigned char s[64];
  int t = threadIdx.x;
  s[t] = (unsigned char)t;
  y[t] = x[t] + s[t];
}
