// The two halves of a warp call __syncwarp at different places, with the full mask.
// Calls meet by their mask, not by their place.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  if (t < 16) {
    s[t] = x[t];
    __syncwarp();
    y[t] = s[t ^ 31] + 1.0f;
  } else {
    s[t] = 2.0f * x[t];
    __syncwarp();
    y[t] = s[t ^ 31] - 1.0f;
  }
}
