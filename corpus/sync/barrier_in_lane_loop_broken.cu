// Threads go through different numbers of rounds, with a barrier in each. The pattern of Enzyme-JAX pull request 2866.
// Broken: threads 0 to 15 go through three rounds, threads 16 to 31 through two: in the third the former wait on line
// 11, the latter on line 16.
extern "C" __global__ void rounds(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[32];
  int t = threadIdx.x;
  float sum = 0.0f;
  s[t] = 0.0f;
  for (int i = t; i < n; i += 32) {
    s[t] = x[i];
    __syncthreads();
    sum += s[t ^ 1];
    __syncthreads();
  }
  s[t] = sum;
  __syncthreads();
  y[t] = s[31 - t];
}
