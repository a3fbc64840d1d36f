// expect: proved-or-unsupported
// check: --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out --arg n=32
// A local function that captures the length.
//@ extent x[n], y[n];
//@ requires 1 <= n <= 1000000000 && gridDim.x*blockDim.x <= 1000000000;
__global__ void neighbours(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto at = [=](int k) -> float { return k >= 0 && k < n ? x[k] : 0.0f; };
  if (i < n) y[i] = at(i - 1) + at(i + 1);
}
