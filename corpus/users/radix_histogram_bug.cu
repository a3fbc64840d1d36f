// expect: refuted races line 19
// check: --grid 2 --block 32 --arg keys=u32[64]=iota --arg counts=u32[16]:out --arg n=64
// Both blocks add to the same counters.
typedef unsigned int uint;
#define RADIX 16

//@ extent keys[n], counts[RADIX];
//@ requires 1 <= n <= 1000000 && gridDim.x == 2 && blockDim.x == 32;
__global__ void digit_counts(const uint *keys, uint *counts, uint n)
{
    __shared__ uint bins[RADIX];
    if (threadIdx.x < RADIX)
        bins[threadIdx.x] = 0u;
    __syncthreads();
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[keys[i] & 15u], 1u);
    __syncthreads();
    if (threadIdx.x < RADIX)
        counts[threadIdx.x] += bins[threadIdx.x];
}
