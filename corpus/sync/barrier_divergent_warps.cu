// The two warps have the same number of barriers, but at different instructions.
// Whole warps wait on lines 9 and 13 in one generation: undefined by the manual, but works on current hardware; a note, an
// error under --strict. The memory is in order.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = x[t];
    __syncthreads();
    y[t] = s[63 - t] * 2.0f;
  } else {
    s[t] = -x[t];
    __syncthreads();
    y[t] = s[63 - t] * 3.0f;
  }
}
