// A whole warp calls __syncwarp.
// Broken: lanes 16 to 31 execute a __syncwarp (line 8) whose mask does not name them: undefined. Nothing orders them
// on line 9 either.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncwarp(0x0000ffffu);
  y[t] = s[t ^ 1];
}
