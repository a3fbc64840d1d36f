// Rotary embedding of x [n, d]: pairs of columns of row p are turned by the angle p f. Cosine and sine come as tables [n, d/2].

// The pair is (i, i + d/2).
extern "C" __global__ void halves(const float* __restrict__ x, const float* __restrict__ cosine, const float* __restrict__ sine,
                                  float* __restrict__ y, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  int p = t / d, i = t % d, h = d / 2;
  float c = cosine[p * h + i % h], s = sine[p * h + i % h];
  y[t] = i < h ? x[t] * c - x[t + h] * s : x[t] * c + x[t - h] * s;
}

// One thread for each pair.
extern "C" __global__ void halves_pairs(const float* __restrict__ x, const float* __restrict__ cosine,
                                        const float* __restrict__ sine, float* __restrict__ y, int n, int d) {
  int h = d / 2, t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * h) return;
  int p = t / h, i = t % h;
  float a = x[p * d + i], b = x[p * d + h + i], c = cosine[t], s = sine[t];
  y[p * d + i] = fmaf(a, c, -(b * s));
  y[p * d + h + i] = fmaf(b, c, a * s);
}

// The pair is (2 i, 2 i + 1).
extern "C" __global__ void neighbours(const float* __restrict__ x, const float* __restrict__ cosine,
                                      const float* __restrict__ sine, float* __restrict__ y, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  int p = t / d, i = t % d;
  float c = cosine[p * (d / 2) + i / 2], s = sine[p * (d / 2) + i / 2];
  y[t] = i % 2 == 0 ? x[t] * c - x[t + 1] * s : x[t - 1] * s + x[t] * c;
}

// As complex numbers, with three products for four: k1 = c (a + b), k2 = a (s - c), k3 = b (c + s).
extern "C" __global__ void neighbours_three(const float* __restrict__ x, const float* __restrict__ cosine,
                                            const float* __restrict__ sine, float* __restrict__ y, int n, int d) {
  for (int i = threadIdx.x; i < d / 2; i += blockDim.x) {
    int t = blockIdx.x * (d / 2) + i;
    float2 v = ((const float2*)x)[t];
    float c = cosine[t], s = sine[t];
    float k1 = c * (v.x + v.y), k2 = v.x * (s - c), k3 = v.y * (c + s);
    ((float2*)y)[t] = make_float2(k1 - k3, k1 + k2);
  }
}

// In place, query and key in one launch: blockIdx.y chooses.
extern "C" __global__ void both(float* q, float* k, const float* __restrict__ cosine, const float* __restrict__ sine, int n,
                                int d) {
  int h = d / 2, t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * h) return;
  float* x = blockIdx.y == 0 ? q : k;
  int p = t / h, i = t % h;
  float a = x[p * d + i], b = x[p * d + h + i];
  x[p * d + i] = a * cosine[t] - b * sine[t];
  x[p * d + h + i] = b * cosine[t] + a * sine[t];
}

extern "C" __global__ void both_loop(float* q, float* k, const float* __restrict__ cosine, const float* __restrict__ sine, int n,
                                     int d) {
  int h = d / 2, p = blockIdx.x;
  for (int i = threadIdx.x; i < h; i += blockDim.x) {
    float c = cosine[p * h + i], s = sine[p * h + i];
    float qa = q[p * d + i], qb = q[p * d + h + i], ka = k[p * d + i], kb = k[p * d + h + i];
    q[p * d + i] = c * qa - s * qb;
    q[p * d + h + i] = s * qa + c * qb;
    k[p * d + i] = c * ka - s * kb;
    k[p * d + h + i] = s * ka + c * kb;
  }
}

// Wrong: the sign of the sine.
extern "C" __global__ void sign(const float* __restrict__ x, const float* __restrict__ cosine, const float* __restrict__ sine,
                                float* __restrict__ y, int n, int d) {
  int h = d / 2, t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * h) return;
  int p = t / h, i = t % h;
  float a = x[p * d + i], b = x[p * d + h + i], c = cosine[t], s = sine[t];
  y[p * d + i] = a * c + b * s;
  y[p * d + h + i] = b * c - a * s;
}

// Wrong: the position of the row before.
extern "C" __global__ void position(const float* __restrict__ x, const float* __restrict__ cosine, const float* __restrict__ sine,
                                    float* __restrict__ y, int n, int d) {
  int h = d / 2, t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * h) return;
  int p = t / h, i = t % h, from = max(p - 1, 0) * h + i;
  float a = x[p * d + i], b = x[p * d + h + i], c = cosine[from], s = sine[from];
  y[p * d + i] = a * c - b * s;
  y[p * d + h + i] = b * c + a * s;
}
