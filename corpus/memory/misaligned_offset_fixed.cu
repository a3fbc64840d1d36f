// Scale a payload that follows one word of header, four elements per thread.
// Fixed: the unaligned side is read one element at a time.
extern "C" __global__ void scale_payload(const float* __restrict__ x, float* __restrict__ y, float alpha, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float* payload = x + 1;
  float4 v = make_float4(payload[i], payload[i + 1], payload[i + 2], payload[i + 3]);
  *reinterpret_cast<float4*>(y + i) = make_float4(alpha * v.x, alpha * v.y, alpha * v.z, alpha * v.w);
}
