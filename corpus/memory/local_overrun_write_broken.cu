// The last value of each bin in a thread's segment, kept in a local array; element k falls in bin k % bins.
// Broken: the array has room for 8 bins and the launch asks for 9: at k = 8 every thread writes last[8] (line 12).

#define BINS 8

extern "C" __global__ void last_of_bins(const float* __restrict__ x, float* __restrict__ y, int length, int bins) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float last[BINS];
  for (int b = 0; b < BINS; b++) last[b] = 0.0f;
  for (int k = 0; k < length; k++) {
    int bin = k % bins;
    last[bin] = x[t * length + k];
  }
  float sum = 0.0f;
  for (int b = 0; b < BINS; b++) sum += last[b];
  y[t] = sum;
}
