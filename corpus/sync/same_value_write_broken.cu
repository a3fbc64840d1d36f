// Many threads write one cell.
// Broken: all write their own element (line 6).
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s;
  int t = threadIdx.x;
  s = x[t];
  __syncthreads();
  y[t] = x[t] * s;
}
