// One thread clears a word, another the first byte of it.
// Broken: equal bytes, but accesses of different width (lines 7 and 8): the indulgence for equal values is for the
// same place and width alone.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ unsigned s[2];
  int t = threadIdx.x;
  if (t == 0) s[0] = 0;
  if (t == 1) *(volatile unsigned char*)s = 0;
  __syncthreads();
  y[t] = x[t] + s[0];
}
