// Weigh 128 numbers in groups of four, read from shared memory as float4.
// `tile` declares the alignment of a float. `weights` has 16 bytes, so `tile` begins at a multiple of 16 in whatever order the two are
// packed; the report lists that as assumed.
extern "C" __global__ void weigh(const float* __restrict__ x, float* __restrict__ y, float alpha) {
  __shared__ float weights[4];
  __shared__ float tile[128];
  int t = threadIdx.x;
  tile[t] = x[t];
  if (t < 4) weights[t] = alpha * t;
  __syncthreads();
  if (t < 32) {
    float4 v = *reinterpret_cast<const float4*>(tile + 4 * t);
    y[t] = v.x * weights[0] + v.y * weights[1] + v.z * weights[2] + v.w * weights[3];
  }
}
