// Filter with four taps kept in a local ring, each thread starting at its own phase.
// Broken: the position in the ring does not wrap. Thread t with t % 4 = p > 0 reads ring[4] to ring[p + 3], past the end,
// in the last p steps (line 14): thread 3 from k = 1 on, thread 2 from k = 2 on, thread 1 at k = 3.
#define TAPS 4

extern "C" __global__ void ring_filter(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float ring[TAPS];
  for (int k = 0; k < TAPS; k++)
    ring[k] = x[i + k];
  int phase = i % TAPS;
  float sum = 0.0f;
  for (int k = 0; k < TAPS; k++)
    sum += w[k] * ring[phase + k];
  y[i] = sum;
}
