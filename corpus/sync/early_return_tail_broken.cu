// Sum of each block's elements; the last block is not full. The pattern of FBGEMM issue 5857.
// Broken: in block 1 threads 36 to 63 return before the barrier (line 9). The barrier has no count, so it waits for
// the threads that are left, and completes: no finding there; but s[36..63] is never written, and threads 4 to 31 read
// it (line 13), so y[1] is undefined (line 16).
extern "C" __global__ void total(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  int i = blockIdx.x * 64 + t;
  if (i >= n) return;
  s[t] = x[i];
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
