// Normalisations with a mistake; what is wrong stands above each.

#define LAYER(NAME, COUNT, ROOT, VALUE, G, B)                                                                                    \
  extern "C" __global__ void NAME(const float* __restrict__ x, const float* __restrict__ g, const float* __restrict__ b,        \
                                  float* __restrict__ y, int rows, int n, float eps) {                                          \
    int r = blockIdx.x * blockDim.x + threadIdx.x;                                                                              \
    if (r >= rows) return;                                                                                                      \
    float mean = 0.0f, var = 0.0f;                                                                                              \
    for (int i = 0; i < n; i++) mean += x[r * n + i];                                                                           \
    mean /= n;                                                                                                                  \
    for (int i = 0; i < n; i++) var += (x[r * n + i] - mean) * (x[r * n + i] - mean);                                           \
    var /= (COUNT);                                                                                                             \
    for (int i = 0; i < n; i++) {                                                                                               \
      float v = x[r * n + i];                                                                                                   \
      y[r * n + i] = (VALUE) / (ROOT) * (G) + (B);                                                                              \
    }                                                                                                                           \
  }

// eps outside of the root.
LAYER(eps_outside, n, sqrtf(var) + eps, v - mean, g[i], b[i])
// The variance is that of a sample: over n - 1.
LAYER(sample_variance, n - 1, sqrtf(var + eps), v - mean, g[i], b[i])
// No eps.
LAYER(no_eps, n, sqrtf(var), v - mean, g[i], b[i])
// The mean is not taken off.
LAYER(no_mean, n, sqrtf(var + eps), v, g[i], b[i])
// No gain.
LAYER(no_gain, n, sqrtf(var + eps), v - mean, 1.0f, b[i])
// Gain and shift of the next column.
LAYER(shifted_gain, n, sqrtf(var + eps), v - mean, g[(i + 1) % n], b[(i + 1) % n])
// Variance, not its root.
LAYER(no_root, n, var + eps, v - mean, g[i], b[i])
// Only the last row of the grid is wrong: its shift is doubled.
LAYER(one_row, n, sqrtf(var + eps), v - mean, g[i], r == rows - 1 ? 2.0f * b[i] : b[i])

// The mean of the squares less the mean.
extern "C" __global__ void mean_not_squared(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < n; i++) {
    sum += x[r * n + i];
    squares += x[r * n + i] * x[r * n + i];
  }
  y[r] = squares / n - sum / n;
}

// Welford with the old mean twice.
extern "C" __global__ void welford_old_mean(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float mean = 0.0f, m2 = 0.0f;
  for (int i = 0; i < n; i++) {
    float d = x[r * n + i] - mean;
    mean += d / (i + 1);
    m2 += d * d;
  }
  y[r] = m2 / n;
}

// Lanes' triples are joined as if their means were the same.
extern "C" __global__ void chan_no_shift(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float mean = 0.0f, m2 = 0.0f, count = 0.0f;
  for (int i = lane; i < n; i += 32) {
    float v = x[r * n + i], d = v - mean;
    count += 1.0f;
    mean += d / count;
    m2 += d * (v - mean);
  }
  for (int o = 16; o > 0; o >>= 1) m2 += __shfl_xor_sync(0xffffffffu, m2, o);
  if (lane == 0) y[r] = m2 / n;
}

// eps counts n times too little: it stands under 1/n.
extern "C" __global__ void rms_eps_over_n(const float* __restrict__ x, const float* __restrict__ g, float* __restrict__ y,
                                          int rows, int n, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float squares = eps;
  for (int i = 0; i < n; i++) squares += x[r * n + i] * x[r * n + i];
  float inverse = rsqrtf(squares / n);
  for (int i = 0; i < n; i++) y[r * n + i] = x[r * n + i] * inverse * g[i];
}

// The shared sums are read without a barrier: a race.
extern "C" __global__ void rms_no_barrier(const float* __restrict__ x, const float* __restrict__ g, float* __restrict__ y,
                                          int rows, int n, float eps) {
  __shared__ float part[2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < n; i += 64) squares += x[i] * x[i];
  for (int o = 16; o > 0; o >>= 1) squares += __shfl_xor_sync(0xffffffffu, squares, o);
  if (lane == 0) part[warp] = squares;
  float inverse = rsqrtf((part[0] + part[1]) / n + eps);
  for (int i = threadIdx.x; i < n; i += 64) y[i] = x[i] * inverse * g[i];
}

// No lower bound of the length: for a row of zeros it is 0/0.
extern "C" __global__ void unit_no_bound(const float* __restrict__ x, float* __restrict__ y, int rows, int n, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float squares = 0.0f;
  for (int i = 0; i < n; i++) squares += x[r * n + i] * x[r * n + i];
  for (int i = 0; i < n; i++) y[r * n + i] = x[r * n + i] / sqrtf(squares);
}
