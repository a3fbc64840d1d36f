// Histogram of 16 bins: block's counts in shared memory, then added to the result; element i falls into bin (5 i) mod
// 16.
// Broken: a plain increment: threads t and t + 16 update the same bin (line 12), so counts get lost.
#define BINS 16

extern "C" __global__ void histogram(int* counts, int n) {
  __shared__ int local[BINS];
  int t = threadIdx.x;
  if (t < BINS) local[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
    local[i * 5 % BINS]++;
  __syncthreads();
  if (t < BINS) atomicAdd(&counts[t], local[t]);
}
