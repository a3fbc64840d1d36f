// Many threads write one cell.
// All write the same number: a note, an error under --strict.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s;
  int t = threadIdx.x;
  s = n;
  __syncthreads();
  y[t] = x[t] * s;
}
