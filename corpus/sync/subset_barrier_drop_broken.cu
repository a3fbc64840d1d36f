// 48 of 64 threads exchange elements. The pattern of TileLang issues 2556 and 1822.
// Broken: the barrier was dropped: thread t reads s[47 - t] (line 7), which thread 47 - t writes (line 6).
extern "C" __global__ void reverse(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[48];
  int t = threadIdx.x;
  if (t < 48) s[t] = x[t];
  if (t < 48) y[t] = s[47 - t];
}
