// expect: proved
// check: --grid 2 --block 32 --arg x=f32[60] --arg y=f32[60]:out --arg n=60
// `auto` in the style of newer code.
//@ extent x[n], y[n];
//@ requires n <= 2000000000 && gridDim.x*blockDim.x <= 2000000000;
__global__ void rotate(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
  const auto i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  auto j = i + 1 == n ? 0u : i + 1;
  auto* out = y + i;
  const auto& next = x[j];
  *out = next;
}
