// expect: proved
// check: --grid 1 --block 32 --arg idx=s32[32]=iota --arg table=f32[10] --arg out=f32[32]:inout --arg n=32 --arg m=10
// Gather through the read-only cache.
#define LOAD(p) __ldg(&(p))

//@ extent idx[n], table[m], out[n];
//@ requires n >= 0 && m >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void gather(const int* __restrict__ idx, const float* __restrict__ table, float* __restrict__ out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int k = LOAD(idx[i]);
    if (k >= 0 && k < m) out[i] = __ldg(table + k);
  }
}
