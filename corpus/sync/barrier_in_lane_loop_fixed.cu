// Threads go through different numbers of rounds, with a barrier in each. The pattern of Enzyme-JAX pull request 2866.
// Fixed: all threads go through the same rounds.
extern "C" __global__ void rounds(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[32];
  int t = threadIdx.x;
  float sum = 0.0f;
  s[t] = 0.0f;
  for (int base = 0; base < n; base += 32) {
    s[t] = base + t < n ? x[base + t] : 0.0f;
    __syncthreads();
    sum += s[t ^ 1];
    __syncthreads();
  }
  s[t] = sum;
  __syncthreads();
  y[t] = s[31 - t];
}
