// Guards and loops on data: nested ways, calls and loops inside them, early exits, updates under a condition, and branches that
// share a target.

// A sum of elements under a mask, by sign.
extern "C" __global__ void masked_sum(const float* __restrict__ x, const int* __restrict__ m, float* __restrict__ y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0.0f;
  for (int j = 0; j < k; j++) {
    if (m[i * k + j] != 0) {
      float v = x[i * k + j];
      if (v > 0.0f) s += v; else s -= 2.0f * v;
    }
  }
  y[i] = s;
}

extern "C" __global__ void masked_sum_select(const float* __restrict__ x, const int* __restrict__ m, float* __restrict__ y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0.0f;
  for (int j = 0; j < k; j++) {
    float v = x[i * k + j];
    float t = v > 0.0f ? v : -2.0f * v;
    s += m[i * k + j] == 0 ? 0.0f : t;
  }
  y[i] = s;
}

// Wrong: the sign of negative elements.
extern "C" __global__ void masked_sum_sign(const float* __restrict__ x, const int* __restrict__ m, float* __restrict__ y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0.0f;
  for (int j = 0; j < k; j++) {
    float v = x[i * k + j];
    float t = v > 0.0f ? v : 2.0f * v;
    s += m[i * k + j] == 0 ? 0.0f : t;
  }
  y[i] = s;
}

// An early exit before a loop.
extern "C" __global__ void early(const float* __restrict__ x, float* y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (x[i] < 0.0f) return;
  float s = 0.0f;
  for (int j = 0; j < k; j++) {
    float v = x[n + i * k + j];
    s = s * 0.5f + v;
    if (v > 1.0f) s += 1.0f;
  }
  y[i] = s;
}

extern "C" __global__ void early_select(const float* __restrict__ x, float* y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0.0f;
  for (int j = 0; j < k; j++) {
    float v = x[n + i * k + j];
    s = fmaf(s, 0.5f, v) + (v > 1.0f ? 1.0f : 0.0f);
  }
  float old = y[i];
  y[i] = x[i] < 0.0f ? old : s;
}

// Wrong: zero counts as negative.
extern "C" __global__ void early_zero(const float* __restrict__ x, float* y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (x[i] <= 0.0f) return;
  float s = 0.0f;
  for (int j = 0; j < k; j++) {
    float v = x[n + i * k + j];
    s = s * 0.5f + v;
    if (v > 1.0f) s += 1.0f;
  }
  y[i] = s;
}

// The place of a maximum: in registers, and in memory that is written where a larger one is found.
extern "C" __global__ void argmax(const float* __restrict__ x, int* __restrict__ at, float* __restrict__ best, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float b = x[i * k];
  int p = 0;
#pragma unroll 1
  for (int j = 1; j < k; j++) {
    float v = x[i * k + j];
    if (v > b) { b = v; p = j; }
  }
  best[i] = b;
  at[i] = p;
}

extern "C" __global__ void argmax_store(const float* __restrict__ x, int* at, float* best, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  best[i] = x[i * k];
  at[i] = 0;
#pragma unroll 1
  for (int j = 1; j < k; j++) {
    if (x[i * k + j] > best[i]) { best[i] = x[i * k + j]; at[i] = j; }
  }
}

// Wrong: the last place where there are several.
extern "C" __global__ void argmax_last(const float* __restrict__ x, int* at, float* best, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  best[i] = x[i * k];
  at[i] = 0;
#pragma unroll 1
  for (int j = 1; j < k; j++) {
    if (x[i * k + j] >= best[i]) { best[i] = x[i * k + j]; at[i] = j; }
  }
}

// A loop that is left at the first element above a threshold.
extern "C" __global__ void first_above(const float* __restrict__ x, int* __restrict__ y, int n, int k, float t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int p = k;
#pragma unroll 1
  for (int j = 0; j < k; j++) if (x[i * k + j] > t) { p = j; break; }
  y[i] = p;
}

extern "C" __global__ void first_above_back(const float* __restrict__ x, int* __restrict__ y, int n, int k, float t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int p = k;
  for (int j = k - 1; j >= 0; j--) p = x[i * k + j] > t ? j : p;
  y[i] = p;
}

// Wrong: the last place instead of the first.
extern "C" __global__ void last_above(const float* __restrict__ x, int* __restrict__ y, int n, int k, float t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int p = k;
  for (int j = 0; j < k; j++) p = x[i * k + j] > t ? j : p;
  y[i] = p;
}

// Elements above a threshold are added up by atomics.
extern "C" __global__ void above(const float* __restrict__ x, float* c, int n, float t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > t) atomicAdd(c, x[i]);
}

extern "C" __global__ void above_one(const float* __restrict__ x, float* c, int n, float t) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
    float s = 0.0f;
    for (int j = 0; j < n; j++) s += x[j] > t ? x[j] : 0.0f;
    c[0] += s;
  }
}

// Wrong: the threshold itself counts.
extern "C" __global__ void above_at(const float* __restrict__ x, float* c, int n, float t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] >= t) atomicAdd(c, x[i]);
}

// A function that is called on both ways, with a loop and a branch of its own.
__device__ __noinline__ float horner(float v, int d) {
  float r = 0.0f;
#pragma unroll 1
  for (int j = 0; j < d; j++) { r = r * v + (float)(j + 1); if (r > 100.0f) r = 100.0f; }
  return r;
}

extern "C" __global__ void called(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (v > 0.0f) y[i] = horner(v, 4); else y[i] = horner(-v, 3) - 1.0f;
}

extern "C" __global__ void called_flat(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], a = fabsf(v), r = 0.0f;
  for (int j = 0; j < 3; j++) r = fminf(fmaf(r, a, (float)(j + 1)), 100.0f);
  float q = fminf(fmaf(r, a, 4.0f), 100.0f);
  y[i] = v > 0.0f ? q : r - 1.0f;
}

// Wrong: one is added, not taken away.
extern "C" __global__ void called_off(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], a = fabsf(v), r = 0.0f;
  for (int j = 0; j < 3; j++) r = fminf(fmaf(r, a, (float)(j + 1)), 100.0f);
  float q = fminf(fmaf(r, a, 4.0f), 100.0f);
  y[i] = v > 0.0f ? q : r + 1.0f;
}

// Branches with one target: && and ||.
extern "C" __global__ void both(const float* __restrict__ x, const float* w, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (v > 0.0f && w[i] < v && w[n + i] > 1.0f) { y[i] = w[i] * v; y[i + n] = 1.0f; }
  else if (v < -1.0f || w[2 * n + i] == 3.0f) { y[i] = -v; y[i + n] = 2.0f; }
  else { y[i] = 0.0f; y[i + n] = 0.0f; }
}

extern "C" __global__ void both_flat(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], a = w[i], b = w[n + i], c = w[2 * n + i];
  bool p = (v > 0.0f) & (a < v) & (b > 1.0f), q = (v < -1.0f) | (c == 3.0f);
  y[i] = p ? a * v : q ? -v : 0.0f;
  y[i + n] = p ? 1.0f : q ? 2.0f : 0.0f;
}

// Wrong: and in the place of or.
extern "C" __global__ void both_or(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], a = w[i], b = w[n + i], c = w[2 * n + i];
  bool p = (v > 0.0f) & (a < v) & (b > 1.0f), q = (v < -1.0f) & (c == 3.0f);
  y[i] = p ? a * v : q ? -v : 0.0f;
  y[i + n] = p ? 1.0f : q ? 2.0f : 0.0f;
}

// Shared memory written under a condition, and read by another thread.
extern "C" __global__ void shared_mask(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[32];
  int i = threadIdx.x;
  s[i] = 0.0f;
  if (x[i] > 0.0f) s[i] = x[i] * x[i];
  __syncthreads();
  y[i] = s[31 - i] + s[i];
}

extern "C" __global__ void shared_flat(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = threadIdx.x;
  float a = fmaxf(x[i], 0.0f), b = fmaxf(x[31 - i], 0.0f);
  y[i] = a * a + b * b;
}

// Shared memory is written only where x is positive, and read in any case.
extern "C" __global__ void shared_maybe(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[32];
  int i = threadIdx.x;
  if (x[i] > 0.0f) s[i] = x[i] * x[i];
  __syncthreads();
  y[i] = s[31 - i];
}

// An element that an index names, if it names one.
extern "C" __global__ void loss_inner(const float* __restrict__ x, const int* __restrict__ t, float* __restrict__ y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = t[i];
  if (c >= 0 && c < k) y[i] = -x[i * k + c]; else y[i] = 0.0f;
}

extern "C" __global__ void loss_sum(const float* __restrict__ x, const int* __restrict__ t, float* __restrict__ y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned c = t[i];
  y[i] = 0.0f;
  if (c < k) y[i] -= x[i * k + c];
}

// Wrong: the element behind it.
extern "C" __global__ void loss_next(const float* __restrict__ x, const int* __restrict__ t, float* __restrict__ y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = t[i];
  if (c >= 0 && c < k - 1) y[i] = -x[i * k + c + 1]; else y[i] = 0.0f;
}
