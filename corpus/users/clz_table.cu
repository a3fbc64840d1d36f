// expect: proved
// check: --grid 1 --block 32 --arg x=u32[32]=iota --arg bucket=s32[33]:inout --arg n=32
// Buckets by magnitude: leading zeros are from 0 to 32.
//@ extent x[n], bucket[33];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void magnitudes(const unsigned int* x, int* bucket, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bucket[__clz(x[i])], 1);
}
