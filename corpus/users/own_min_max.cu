// expect: proved-or-unknown
// check: --grid 1 --block 32 --arg in=f32[30] --arg out=f32[30]:out --arg n=30 --arg r=3
// Own versions of usual names.
template <typename T> __device__ T clamp(T v, T lo, T hi) { return v < lo ? lo : (hi < v ? hi : v); }
__device__ inline int imin(int a, int b) { return a < b ? a : b; }
struct Range { int lo, hi; };
__device__ Range max(Range a, Range b) { return a.hi - a.lo > b.hi - b.lo ? a : b; }

//@ extent in[n], out[n];
//@ requires 1 <= n <= 1000000000 && 0 <= r <= 1000 && gridDim.x*blockDim.x <= 1000000000;
__global__ void dilate(const float* in, float* out, int n, int r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Range left = {clamp(i - r, 0, n - 1), i}, right = {i, imin(i + r, n - 1)};
  Range wide = max(left, right);
  float best = in[i];
  for (int j = wide.lo; j <= wide.hi; j++) best = fmaxf(best, in[j]);
  out[i] = best;
}
