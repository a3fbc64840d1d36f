// Sum of each block's elements, after Harris: interleaved addresses, divergent branch.
// Broken: the loop has no barrier. In the next step thread t reads s[t + step] that thread t + step has written in the
// step before, both on line 13: thread 0 reads what thread 2 wrote (one warp is no lock-step), and later what thread
// 64 wrote.
#define THREADS 128

extern "C" __global__ void reduce1(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * THREADS + t];
  __syncthreads();
  for (int step = 1; step < THREADS; step *= 2) {
    if (t % (2 * step) == 0) s[t] += s[t + step];
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
