// Rectify a vector, four elements per thread.
// Fixed: the first threads past the last whole vector take one of the remaining elements each.

extern "C" __global__ void rectify(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 v = reinterpret_cast<const float4*>(x)[i];
    v.x = fmaxf(v.x, 0.0f), v.y = fmaxf(v.y, 0.0f), v.z = fmaxf(v.z, 0.0f), v.w = fmaxf(v.w, 0.0f);
    reinterpret_cast<float4*>(y)[i] = v;
  } else if (i - n / 4 < n % 4) {
    int k = n / 4 * 4 + (i - n / 4);
    y[k] = fmaxf(x[k], 0.0f);
  }
}
