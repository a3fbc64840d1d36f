// Weigh 96 numbers in groups of four, read from shared memory as float4.
// `tile` declares the alignment of a float, and `weights` has 12 bytes: behind it, `tile` lies at no multiple of 16. An H200 puts it there
// and fails the launch; another order of the two would be aligned. `__align__(16)` on `tile` settles it.
extern "C" __global__ void weigh(const float* __restrict__ x, float* __restrict__ y, float alpha) {
  __shared__ float weights[3];
  __shared__ float tile[96];
  int t = threadIdx.x;
  tile[t] = x[t];
  if (t < 3) weights[t] = alpha * t;
  __syncthreads();
  if (t < 24) {
    float4 v = *reinterpret_cast<const float4*>(tile + 4 * t);
    y[t] = v.x * weights[0] + v.y * weights[1] + v.z * weights[2] + v.w;
  }
}
