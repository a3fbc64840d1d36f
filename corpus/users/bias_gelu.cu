// expect: proved
// check: --grid 2 --block 32 --arg x=f32[60]:inout --arg bias=f32[12] --arg n=60 --arg hidden=12
// Bias by column and a polynomial instead of GELU.
static constexpr float kA = 0.044715f, kB = 0.79788456f;
template <typename scalar_t>
__device__ __forceinline__ scalar_t gelu_like(scalar_t v) {
  return scalar_t(0.5) * v * (scalar_t(1) + tanhf(kB * (v + kA * v * v * v)));
}

//@ extent x[n], bias[hidden];
//@ requires 0 <= n && 1 <= hidden && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void bias_gelu(float* x, const float* bias, int n, int hidden) {
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x, stride = blockDim.x * gridDim.x; idx < n; idx += stride)
    x[idx] = gelu_like(x[idx] + bias[idx % hidden]);
}
