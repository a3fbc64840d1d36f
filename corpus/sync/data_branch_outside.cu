// Reads past the end of x where an element is positive.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  int i = threadIdx.x;
  float r = 0.0f;
  if (x[i] > 0.0f) r = x[i + 64] * x[i];
  y[i] = r;
}
