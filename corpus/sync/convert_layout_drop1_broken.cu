// Two values of each thread change place by way of one scratch array, one after the other. The pattern of Triton pull
// requests 803 and 994.
// Broken: the scratch array is filled again (line 11) while others still read the first value (line 10).
extern "C" __global__ void convert(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[128];
  int t = threadIdx.x;
  int other = t % 4 * 32 + t / 4;
  s[t] = x[t];
  __syncthreads();
  float a = s[other];
  s[t] = x[128 + t];
  __syncthreads();
  float b = s[other];
  y[t] = a;
  y[128 + t] = b;
}
