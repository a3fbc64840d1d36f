// Scale a payload that follows one word of header, four elements per thread.
// Broken: x + 1 is four bytes off a 16-byte boundary, and every thread loads a float4 from there (line 7).
extern "C" __global__ void scale_payload(const float* __restrict__ x, float* __restrict__ y, float alpha, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float* payload = x + 1;
  float4 v = *reinterpret_cast<const float4*>(payload + i);
  *reinterpret_cast<float4*>(y + i) = make_float4(alpha * v.x, alpha * v.y, alpha * v.z, alpha * v.w);
}
