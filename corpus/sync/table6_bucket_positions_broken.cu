// Running positions of buckets: block-wide prefix sums of chunk after chunk, carried on by the last element (a pattern
// of OpenMM's sorting).
// Broken: all threads read s[31] (line 18); thread 31 may already write its element of the next chunk there (line 9).
extern "C" __global__ void positions(const int* __restrict__ offset, int* __restrict__ position, int n) {
  __shared__ int s[32];
  int t = threadIdx.x;
  int carried = 0;
  for (int base = 0; base < n; base += 32) {
    s[t] = offset[base + t];
    __syncthreads();
    for (int step = 1; step < 32; step *= 2) {
      int add = t >= step ? s[t - step] : 0;
      __syncthreads();
      s[t] += add;
      __syncthreads();
    }
    position[base + t] = carried + s[t];
    carried += s[31];
  }
}
