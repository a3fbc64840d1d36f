// expect: proved
// check: --grid 2 --block 32 --arg a=f32[64] --arg b=f32[64] --arg out=f32[64]:out --arg n=64
// A pointer without a first value, set in both branches.
//@ extent a[n], b[n], out[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void choose(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* src;
  if (blockIdx.x & 1) {
    src = a;
  } else {
    src = b;
  }
  out[i] = src[i] + *(src + (n - 1 - i));
}
