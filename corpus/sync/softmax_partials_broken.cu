// Softmax of a row by one block: partial maxima and sums of the warps in shared memory. The pattern of LeetCUDA issue
// 409.
// Broken: lanes 8 to 31 of every warp read past part[8] (line 15). No race.
#define WARPS 8
#define FULL_MASK 0xffffffffu

extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float part[WARPS];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  float e = __expf(x[blockIdx.x * 256 + t]);
  float sum = e;
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(FULL_MASK, sum, k);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = part[lane];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(FULL_MASK, sum, k);
  y[blockIdx.x * 256 + t] = e / sum;
}
