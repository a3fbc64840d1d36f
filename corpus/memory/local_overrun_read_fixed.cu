// Filter with four taps kept in a local ring, each thread starting at its own phase.
// Fixed: the position in the ring wraps.
#define TAPS 4

extern "C" __global__ void ring_filter(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float ring[TAPS];
  for (int k = 0; k < TAPS; k++)
    ring[k] = x[i + k];
  int phase = i % TAPS;
  float sum = 0.0f;
  for (int k = 0; k < TAPS; k++)
    sum += w[k] * ring[(phase + k) % TAPS];
  y[i] = sum;
}
