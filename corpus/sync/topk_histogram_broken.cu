// Radix selection: one histogram for each of three digits, in the same 16 bins. The pattern of FlashInfer pull request
// 3529.
// Broken: no barrier at the end of a round: threads 0 to 15 clear the bins for the next digit (line 11) while thread
// 63 still reads them (line 17). The addresses of the atomic additions depend on keys, which the launch gives.
#define BINS 16

extern "C" __global__ void digits(const int* __restrict__ keys, int* __restrict__ y) {
  __shared__ int bins[BINS];
  int t = threadIdx.x;
  for (int round = 0; round < 3; round++) {
    if (t < BINS) bins[t] = 0;
    __syncthreads();
    for (int i = t; i < 128; i += 64) atomicAdd(&bins[keys[i] >> (3 * round) & (BINS - 1)], 1);
    __syncthreads();
    if (t == 63) {
      int most = 0;
      for (int i = 0; i < BINS; i++) most = max(most, bins[i]);
      y[round] = most;
    }
  }
}
