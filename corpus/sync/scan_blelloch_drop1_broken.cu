// Exclusive prefix sum of 128 elements with 64 threads, after Blelloch: up-sweep, clear, down-sweep.
// Broken: no barrier in the up-sweep: thread t reads at s[a] and s[b] what threads 2t and 2t + 1 have written in the
// step before, both on line 19. The first step needs none, each thread reads what it filled itself; its update of s[2t
// + 1] has been merged into the store that fills it, which has no source line.
#define THREADS 64
#define N 128

extern "C" __global__ void scan(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[N];
  int t = threadIdx.x;
  int base = blockIdx.x * N;
  s[2 * t] = x[base + 2 * t];
  s[2 * t + 1] = x[base + 2 * t + 1];
  int offset = 1;
  for (int d = N / 2; d > 0; d /= 2) {
    if (t < d) {
      int a = offset * (2 * t + 1) - 1;
      int b = offset * (2 * t + 2) - 1;
      s[b] += s[a];
    }
    offset *= 2;
  }
  __syncthreads();
  if (t == 0) s[N - 1] = 0.0f;
  for (int d = 1; d < N; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1;
      int b = offset * (2 * t + 2) - 1;
      float v = s[a];
      s[a] = s[b];
      s[b] += v;
    }
  }
  __syncthreads();
  y[base + 2 * t] = s[2 * t];
  y[base + 2 * t + 1] = s[2 * t + 1];
}
