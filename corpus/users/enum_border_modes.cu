// expect: proved
// check: --grid 1 --block 16 --arg in=f32[12] --arg out=f32[12]:out --arg n=12 --arg mode=1
// Border handling by an enumeration with values of its own.
enum BorderMode { BORDER_ZERO = 0, BORDER_CLAMP, BORDER_WRAP = 8 };

__device__ float fetch(const float* in, int i, int n, BorderMode mode) {
  if (i >= 0 && i < n) return in[i];
  switch (mode) {
    case BORDER_CLAMP:
      return in[i < 0 ? 0 : n - 1];
    case BORDER_WRAP:
      return in[i < 0 ? i + n : i - n];
    default:
      return 0.0f;
  }
}

//@ extent in[n], out[n];
//@ requires 2 <= n <= 2000000000 && gridDim.x*blockDim.x <= 2000000000;
__global__ void gradient(const float* in, float* out, int n, BorderMode mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * (fetch(in, i + 1, n, mode) - fetch(in, i - 1, n, mode));
}
