// 48 of 64 threads exchange elements. The pattern of TileLang issues 2556 and 1822.
// Broken: the barrier stands under a condition on which the lanes of warp 1 disagree: lanes 0 to 15 wait on line 8,
// lanes 16 to 31 on line 10.
extern "C" __global__ void reverse(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[48];
  int t = threadIdx.x;
  if (t < 48) s[t] = x[t];
  if (t < 48) __syncthreads();
  if (t < 48) y[t] = s[47 - t];
  __syncthreads();
}
