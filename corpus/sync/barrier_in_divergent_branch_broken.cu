// Both halves of each warp have a barrier in their own branch.
// Broken: lanes 0 to 15 of a warp wait on line 9, lanes 16 to 31 on line 13: an aligned barrier wants the whole warp
// at one instruction (it hangs on an H200).
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t % 32 < 16) {
    s[t] = x[t];
    __syncthreads();
    y[t] = s[63 - t] * 2.0f;
  } else {
    s[t] = -x[t];
    __syncthreads();
    y[t] = s[63 - t] * 3.0f;
  }
}
