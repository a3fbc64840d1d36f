// Histogram of 16 bins: block's counts in shared memory, then added to the result; element i falls into bin (5 i) mod
// 16.
// Broken: no barrier before the counts are read: thread t < 16 reads bin t (line 14) while others still count in it
// (line 13).
#define BINS 16

extern "C" __global__ void histogram(int* counts, int n) {
  __shared__ int local[BINS];
  int t = threadIdx.x;
  if (t < BINS) local[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[i * 5 % BINS], 1);
  if (t < BINS) atomicAdd(&counts[t], local[t]);
}
