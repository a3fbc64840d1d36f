// Every block reports that it has run.
// All blocks write the same number to y[0] (line 5): a note.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (threadIdx.x == 0) y[0] = 1.0f;
  if (i > 0) y[i] = x[i];
}
