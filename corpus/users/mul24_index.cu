// expect: proved-or-unknown
// check: --grid 2 --block 32 --arg x=f32[60]:inout --arg n=60
// The 24-bit product of the first GPUs, where it is exact.
#define IMUL(a, b) __mul24(a, b)

//@ extent x[n];
//@ requires 0 <= n && gridDim.x <= 8000 && blockDim.x <= 1024;
__global__ void negate(float* x, int n) {
  const int tid = IMUL(blockDim.x, blockIdx.x) + threadIdx.x;
  const int step = __umul24(blockDim.x, gridDim.x);
  for (int i = tid; i < n && i >= 0; i += step) {
    x[i] = -x[i];
    if (n - i <= step) break;
  }
}
