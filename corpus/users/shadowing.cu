// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out --arg n=32
// Inner names hide outer ones, of other types.
__device__ int i = 5;

//@ extent x[n], y[n];
//@ requires n >= 4 && gridDim.x*blockDim.x <= 2147483647;
__global__ void shadowed(const float* x, float* y, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  if (i < n) {
    for (int i = 0; i < 4; i++) {
      float n = x[i];
      { int x = (int)n; n += x; }
      sum += n;
    }
    y[i] = sum;
  }
}
