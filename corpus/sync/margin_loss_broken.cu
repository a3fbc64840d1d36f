// Gradient of a margin loss: each thread adds up its part, thread 0 the parts. The pattern of PyTorch issue 158921.
// Broken: no barrier before thread 0 adds up the parts (line 19), which all other threads write (lines 10 and 15).
#define THREADS 64

extern "C" __global__ void margin_loss(const float* __restrict__ x, const int* __restrict__ target, float* __restrict__ g, int dim) {
  __shared__ float part[THREADS];
  int t = threadIdx.x, row = blockIdx.x;
  int k = target[row];
  float at = x[row * dim + k];
  part[t] = 0.0f;
  for (int i = t; i < dim; i += THREADS) {
    if (i == k) continue;
    float z = fmaxf(1.0f - at + x[row * dim + i], 0.0f);
    g[row * dim + i] = z;
    part[t] -= z;
  }
  if (t == 0) {
    float sum = 0.0f;
    for (int i = 0; i < THREADS; i++) sum += part[i];
    g[row * dim + k] = sum;
  }
}
