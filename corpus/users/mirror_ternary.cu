// expect: proved
// check: --grid 1 --block 32 --arg in=f32[20] --arg out=f32[20]:out --arg n=20
// Nested conditionals without parentheses.
__device__ int mirror(int i, int n) { return i < 0 ? -i : i < n ? i : i < 2 * n - 1 ? 2 * n - 2 - i : 0; }

//@ extent in[n], out[n];
//@ requires 4 <= n <= 100000000 && gridDim.x*blockDim.x <= 100000000;
__global__ void blur5(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = 0.f;
    for (int k = -2; k <= 2; k++) s += in[mirror(i + k, n)];
    out[i] = s * 0.2f;
  }
}
