// Half of the warp returns; the others add up with shuffles that name the whole warp.
extern "C" __global__ void kernel(const float* x, float* y) {
  int t = threadIdx.x;
  if (t >= 16) return;
  float v = x[t];
  for (int d = 8; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  y[t] = v;
}
