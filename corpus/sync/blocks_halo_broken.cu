// Blocks double their own part in place; each adds the first element of the next one.
extern "C" __global__ void kernel(float* x, float* y) {
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  float right = x[(i + 1) % 64];
  __syncthreads();
  x[i] = 2.0f * x[i];
  y[i] = right;
}
