// expect: proved-or-unknown
// check: --grid 1 --block 32 --arg x=f32[32]=iota --arg y=f32[32]:out --arg n=32
// Newton's method with the test at the end.
//@ extent x[n], y[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void roots(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i], g = a > 1.0f ? a : 1.0f, old;
  int left = 30;
  do {
    old = g;
    g = 0.5f * (g + a / g);
    if (--left == 0) break;
  } while (fabsf(g - old) > 1e-6f);
  y[i] = g;
}
