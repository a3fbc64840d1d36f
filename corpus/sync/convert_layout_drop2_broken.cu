// Two values of each thread change place by way of one scratch array, one after the other. The pattern of Triton pull
// requests 803 and 994.
// Broken: the second value is read (line 13) before it is there for sure (line 12).
extern "C" __global__ void convert(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[128];
  int t = threadIdx.x;
  int other = t % 4 * 32 + t / 4;
  s[t] = x[t];
  __syncthreads();
  float a = s[other];
  __syncthreads();
  s[t] = x[128 + t];
  float b = s[other];
  y[t] = a;
  y[128 + t] = b;
}
