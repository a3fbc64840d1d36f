// 48 of 64 threads exchange elements. The pattern of TileLang issues 2556 and 1822.
// Fixed: all 64 threads come to the barrier.
extern "C" __global__ void reverse(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[48];
  int t = threadIdx.x;
  if (t < 48) s[t] = x[t];
  __syncthreads();
  if (t < 48) y[t] = s[47 - t];
}
