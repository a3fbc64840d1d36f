// expect: proved
// check: --grid 1 --block 8 --arg x=f32[40] --arg y=f32[40]:out --arg n=40
// Four floats at a time, the length a multiple of four.
//@ extent x[n], y[n];
//@ requires 0 <= n && n % 4 == 0 && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void scale4(const float* x, float* y, int n) {
  const float4* x4 = reinterpret_cast<const float4*>(x);
  float4* y4 = reinterpret_cast<float4*>(y);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    float4 v = x4[i];
    v.x *= 2.0f; v.y *= 2.0f; v.z *= 2.0f; v.w *= 2.0f;
    y4[i] = v;
  }
}
