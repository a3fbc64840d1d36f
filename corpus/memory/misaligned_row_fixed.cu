// Scale 8 rows of 32 and reverse their order through a shared tile, four elements per thread.
// Fixed: a pitch of 36 words keeps banks apart and every row on a 16-byte boundary.
#define PITCH 36

extern "C" __global__ void reverse_rows(const float* __restrict__ x, float* __restrict__ y, float alpha) {
  __shared__ __align__(16) float tile[8 * PITCH];
  int row = threadIdx.x / 8;
  int col = 4 * (threadIdx.x % 8);
  int base = blockIdx.x * 8 * 32;
  float4 v = *reinterpret_cast<const float4*>(x + base + row * 32 + col);
  *reinterpret_cast<float4*>(tile + row * PITCH + col) = v;
  __syncthreads();
  float4 u = *reinterpret_cast<const float4*>(tile + (7 - row) * PITCH + col);
  *reinterpret_cast<float4*>(y + base + row * 32 + col) = make_float4(alpha * u.x, alpha * u.y, alpha * u.z, alpha * u.w);
}
