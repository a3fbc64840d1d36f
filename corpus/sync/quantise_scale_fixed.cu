// Quantise rows of 64 elements to 8 bits, one scale for 32 elements. The pattern of llama.cpp issue 28358.
// Fixed: each warp has its own scale.
extern "C" __global__ void quantise(const float* __restrict__ x, float* __restrict__ d, float* __restrict__ q) {
  __shared__ float scale[2];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  float v = x[blockIdx.x * 64 + t], m = fabsf(v);
  for (int k = 16; k > 0; k /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, k));
  if (lane == 0) scale[warp] = m / 127.0f;
  __syncthreads();
  q[blockIdx.x * 64 + t] = v * scale[warp];
  if (lane == 0) d[blockIdx.x * 2 + warp] = scale[warp];
}
