// Least and greatest key of an array by one block, both in one shared array (a pattern of OpenMM's sorting).
// Broken: all threads read s[0] (line 17) while thread 0 starts the second reduction (line 18).
extern "C" __global__ void key_range(const float* __restrict__ x, float* __restrict__ range, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float low = x[0], high = x[0];
  for (int i = t; i < n; i += 64) {
    low = fminf(low, x[i]);
    high = fmaxf(high, x[i]);
  }
  s[t] = low;
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (t < step) s[t] = fminf(s[t], s[t + step]);
    __syncthreads();
  }
  low = s[0];
  s[t] = high;
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (t < step) s[t] = fmaxf(s[t], s[t + step]);
    __syncthreads();
  }
  if (t == 0) {
    range[0] = low;
    range[1] = s[0];
  }
}
