// Rotary embedding of x [n, d] with the sine and cosine of p f[i], pairs (i, i + d/2).

extern "C" __global__ void naive(const float* __restrict__ x, const float* __restrict__ f, float* __restrict__ y, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  int p = t / d, i = t % d, h = d / 2;
  float angle = p * f[i % h];
  y[t] = i < h ? x[t] * cosf(angle) - x[t + h] * sinf(angle) : x[t] * cosf(angle) + x[t - h] * sinf(angle);
}

// Both at once, one thread for each pair.
extern "C" __global__ void pairs(const float* __restrict__ x, const float* __restrict__ f, float* __restrict__ y, int n, int d) {
  int h = d / 2, t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * h) return;
  int p = t / h, i = t % h;
  float a = x[p * d + i], b = x[p * d + h + i], s, c;
  sincosf(f[i] * p, &s, &c);
  y[p * d + i] = a * c - b * s;
  y[p * d + h + i] = b * c + a * s;
}

// Wrong: positions count from one.
extern "C" __global__ void from_one(const float* __restrict__ x, const float* __restrict__ f, float* __restrict__ y, int n,
                                    int d) {
  int h = d / 2, t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * h) return;
  int p = t / h, i = t % h;
  float a = x[p * d + i], b = x[p * d + h + i], s, c;
  sincosf(f[i] * (p + 1), &s, &c);
  y[p * d + i] = a * c - b * s;
  y[p * d + h + i] = b * c + a * s;
}
