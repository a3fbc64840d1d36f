// expect: proved
// check: --grid 1 --block 64 --arg data=u32[128]=iota --arg hist=u32[256]:inout --arg n=128
// Four bytes of each word are counted: every index fits by its type.
typedef unsigned int uint;
#define BINS 256

__device__ inline void addByte(uint* bins, uint data) { atomicAdd(bins + data, 1u); }

__device__ inline void addWord(uint* bins, uint data) {
  addByte(bins, (data >> 0) & 0xFFU);
  addByte(bins, (data >> 8) & 0xFFU);
  addByte(bins, (data >> 16) & 0xFFU);
  addByte(bins, (data >> 24) & 0xFFU);
}

//@ extent data[n], hist[256];
//@ requires n <= 1000000 && gridDim.x*blockDim.x <= 1000000;
__global__ void histogram256(const uint* data, uint* hist, uint n) {
  __shared__ uint bins[BINS];
  for (uint i = threadIdx.x; i < BINS; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (uint pos = blockIdx.x * blockDim.x + threadIdx.x; pos < n; pos += blockDim.x * gridDim.x) addWord(bins, data[pos]);
  __syncthreads();
  for (uint i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&hist[i], bins[i]);
}
