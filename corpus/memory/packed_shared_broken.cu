// Weigh 128 numbers in groups of four, read from shared memory as float4.
// Broken: groups begin one float late (line 12), so that each float4 lies 4 bytes behind a multiple of 16, in whatever order the two
// arrays are packed. An H200 fails the launch.
extern "C" __global__ void weigh(const float* __restrict__ x, float* __restrict__ y, float alpha) {
  __shared__ float weights[4];
  __shared__ float tile[132];
  int t = threadIdx.x;
  tile[t + 1] = x[t];
  if (t < 4) weights[t] = alpha * t;
  __syncthreads();
  if (t < 32) {
    float4 v = *reinterpret_cast<const float4*>(tile + 4 * t + 1);
    y[t] = v.x * weights[0] + v.y * weights[1] + v.z * weights[2] + v.w * weights[3];
  }
}
