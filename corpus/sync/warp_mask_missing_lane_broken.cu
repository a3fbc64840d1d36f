// Half a warp exchanges elements with __syncwarp.
// Broken: the mask of __syncwarp (line 10) names all lanes, but lanes 16 to 31 wait at the barrier (line 13) for lanes
// 0 to 15.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[16];
  int t = threadIdx.x;
  float v = x[t];
  if (t < 16) {
    s[t] = v;
    __syncwarp();
    v = s[15 - t];
  }
  __syncthreads();
  y[t] = v;
}
