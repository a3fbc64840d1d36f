// Histogram of 16 bins: block's counts in shared memory, then added to the result; element i falls into bin (5 i) mod
// 16.
// Broken: no barrier after clearing: thread t < 16 clears bin t (line 9) while others count in it (line 11).
#define BINS 16

extern "C" __global__ void histogram(int* counts, int n) {
  __shared__ int local[BINS];
  int t = threadIdx.x;
  if (t < BINS) local[t] = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[i * 5 % BINS], 1);
  __syncthreads();
  if (t < BINS) atomicAdd(&counts[t], local[t]);
}
