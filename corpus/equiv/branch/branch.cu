// Branches on data: sides of their own, accesses under a condition, and what is written only sometimes.

// if and else, each with a store of its own. The barrier-free bodies are long enough to stay branches.
extern "C" __global__ void sides(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (v > 1.0f) {
    y[i] = v * v + 3.0f;
    y[i + n] = v;
  } else {
    y[i] = 4.0f * v;
    y[i + n] = 1.0f;
  }
}

extern "C" __global__ void chosen(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  bool large = v > 1.0f;
  y[i] = large ? fmaf(v, v, 3.0f) : 4.0f * v;
  y[i + n] = fmaxf(v, 1.0f);
}

// One side alone: the other leaves what is there.
extern "C" __global__ void update(const float* __restrict__ x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (x[i] > 0.0f) y[i] = x[i] * 2.0f;
}

extern "C" __global__ void update_always(const float* __restrict__ x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float old = y[i];
  y[i] = x[i] > 0.0f ? x[i] + x[i] : old;
}

// Wrong: updates where x is zero, too, which shows where y is not zero there.
extern "C" __global__ void update_zero(const float* __restrict__ x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float old = y[i];
  y[i] = x[i] >= 0.0f ? x[i] + x[i] : old;
}

// Branches in branches.
extern "C" __global__ void steps(const float* __restrict__ x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (v > 0.0f) {
    y[i] = v;
    if (v > 2.0f) {
      y[i + n] = v - 2.0f;
      y[i + 2 * n] = 1.0f;
    } else {
      y[i + n] = 0.0f;
      y[i + 2 * n] = 0.5f;
    }
  } else {
    y[i] = 0.0f;
    y[i + n] = 0.0f;
    y[i + 2 * n] = 0.0f;
  }
}

extern "C" __global__ void steps_flat(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = fmaxf(v, 0.0f);
  y[i + n] = fmaxf(v - 2.0f, 0.0f);
  y[i + 2 * n] = v > 2.0f ? 1.0f : v > 0.0f ? 0.5f : 0.0f;
}

// Wrong: the last step is taken at 2, not above it.
extern "C" __global__ void steps_at_two(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = fmaxf(v, 0.0f);
  y[i + n] = fmaxf(v - 2.0f, 0.0f);
  y[i + 2 * n] = v >= 2.0f ? 1.0f : v > 0.0f ? 0.5f : 0.0f;
}

// A load under a condition.
extern "C" __global__ void gated(const float* __restrict__ x, const float* w, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (v > 0.0f) {
    y[i] = w[i] * v + w[n - 1 - i];
    y[i + n] = 1.0f;
  } else {
    y[i] = 0.0f;
    y[i + n] = 0.0f;
  }
}

extern "C" __global__ void gated_flat(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], open = v > 0.0f ? 1.0f : 0.0f;
  y[i] = open * (w[i] * v + w[n - 1 - i]);
  y[i + n] = open;
}

// Reads past the end of w, if x is positive.
extern "C" __global__ void gated_outside(const float* __restrict__ x, const float* w, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (v > 0.0f) {
    y[i] = w[i] * v + w[n + i];
    y[i + n] = 1.0f;
  } else {
    y[i] = 0.0f;
    y[i + n] = 0.0f;
  }
}

// The place of the largest of four, the first one if there are several.
extern "C" __global__ void place(const float* __restrict__ x, int* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3], best = a;
  int at = 0;
  if (b > best) {
    best = b;
    at = 1;
  }
  if (c > best) {
    best = c;
    at = 2;
  }
  if (d > best) at = 3;
  y[i] = at;
}

extern "C" __global__ void place_pairs(const float* __restrict__ x, int* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 r = ((const float4*)x)[i];
  int a = r.y > r.x ? 1 : 0, b = r.w > r.z ? 3 : 2;
  float u = r.y > r.x ? r.y : r.x, v = r.w > r.z ? r.w : r.z;
  y[i] = v > u ? b : a;
}

// Wrong: the last one if the halves are equal.
extern "C" __global__ void place_last(const float* __restrict__ x, int* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 r = ((const float4*)x)[i];
  int a = r.y > r.x ? 1 : 0, b = r.w > r.z ? 3 : 2;
  float u = r.y > r.x ? r.y : r.x, v = r.w > r.z ? r.w : r.z;
  y[i] = v >= u ? b : a;
}
