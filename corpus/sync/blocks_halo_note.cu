// Blocks double their own part in place; each looks at the first element of the next one, and throws it away.
extern "C" __global__ void kernel(float* x, float* y) {
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  float right = x[(i + 1) % 64];
  __syncthreads();
  x[i] = 2.0f * x[i];
  y[i] = (t == 31 ? 0.0f : right);
}
