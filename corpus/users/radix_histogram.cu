// expect: proved
// check: --grid 1 --block 64 --arg keys=u32[256]=iota --arg counts=u32[16]:out --arg n=256 --arg shift=4
// Digits of 4 bits; extraction by shift and mask, counting in shared memory.
typedef unsigned int uint;
#define RADIX_BITS 4
#define RADIX (1 << RADIX_BITS)
#define DIGIT(k, s) (((k) >> (s)) & (RADIX - 1))

//@ extent keys[n], counts[gridDim.x*RADIX];
//@ requires n <= 1000000 && 0 <= shift && shift < 32 && blockDim.x >= RADIX && gridDim.x*blockDim.x <= 1000000;
__global__ void digit_counts(const uint* keys, uint* counts, uint n, int shift) {
  __shared__ uint bins[RADIX];
  if (threadIdx.x < RADIX) bins[threadIdx.x] = 0u;
  __syncthreads();
  for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[DIGIT(keys[i], shift)], 1u);
  __syncthreads();
  if (threadIdx.x < RADIX) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}
