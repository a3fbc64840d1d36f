// Stencils on x [H, W], and on [D, H, W].

// Five points; the border keeps its values.
extern "C" __global__ void heat(const float* __restrict__ x, float* __restrict__ y, int H, int W, float k) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= H || c >= W) return;
  int i = r * W + c;
  float v = x[i];
  if (r > 0 && r < H - 1 && c > 0 && c < W - 1) v = v + k * (x[i - W] + x[i + W] + x[i - 1] + x[i + 1] - 4.0f * v);
  y[i] = v;
}

// 16 by 8 points of a tile with its border in shared memory.
extern "C" __global__ void heat_tiled(const float* __restrict__ x, float* __restrict__ y, int H, int W, float k) {
  __shared__ float s[10][18];
  int tx = threadIdx.x, ty = threadIdx.y, c0 = blockIdx.x * 16 - 1, r0 = blockIdx.y * 8 - 1;
  for (int e = ty * 16 + tx; e < 180; e += 128) {
    int r = r0 + e / 18, c = c0 + e % 18;
    s[e / 18][e % 18] = r >= 0 && r < H && c >= 0 && c < W ? x[r * W + c] : 0.0f;
  }
  __syncthreads();
  int r = r0 + 1 + ty, c = c0 + 1 + tx;
  if (r >= H || c >= W) return;
  float v = s[ty + 1][tx + 1];
  if (r > 0 && r < H - 1 && c > 0 && c < W - 1)
    v = (1.0f - 4.0f * k) * v + k * (s[ty][tx + 1] + s[ty + 2][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2]);
  y[r * W + c] = v;
}

// Two steps of the five points, the values after the first in shared memory: one block for all of at most 16 by 16.
extern "C" __global__ void heat_two_steps(const float* __restrict__ x, float* __restrict__ y, int H, int W, float k) {
  __shared__ float s[2][256];
  int t = threadIdx.x, r = t / W, c = t % W;
  bool in = t < H * W, inner = in && r > 0 && r < H - 1 && c > 0 && c < W - 1;
  if (in) s[0][t] = x[t];
  __syncthreads();
  for (int step = 0; step < 2; step++) {
    const float* a = s[step];
    float v = in ? a[t] : 0.0f;
    if (inner) v += k * (a[t - W] + a[t + W] + a[t - 1] + a[t + 1] - 4.0f * v);
    if (step == 1) {
      if (in) y[t] = v;
    } else if (in) {
      s[1][t] = v;
    }
    __syncthreads();
  }
}

// The same in one go: each thread makes the five values of the first step that it needs.
__device__ __forceinline__ float first_step(const float* x, int r, int c, int H, int W, float k) {
  int i = r * W + c;
  float v = x[i];
  if (r > 0 && r < H - 1 && c > 0 && c < W - 1) v += k * (x[i - W] + x[i + W] + x[i - 1] + x[i + 1] - 4.0f * v);
  return v;
}

extern "C" __global__ void heat_fused(const float* __restrict__ x, float* __restrict__ y, int H, int W, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= H * W) return;
  int r = i / W, c = i % W;
  float v = first_step(x, r, c, H, W, k);
  if (r > 0 && r < H - 1 && c > 0 && c < W - 1)
    v += k * (first_step(x, r - 1, c, H, W, k) + first_step(x, r + 1, c, H, W, k) + first_step(x, r, c - 1, H, W, k) +
              first_step(x, r, c + 1, H, W, k) - 4.0f * v);
  y[i] = v;
}

// Seven points in three dimensions, inner points only are written (y is read and written).
extern "C" __global__ void seven(const float* __restrict__ x, float* y, int D, int H, int W, float a, float b) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y, d = blockIdx.z;
  if (d < 1 || d >= D - 1 || r < 1 || r >= H - 1 || c < 1 || c >= W - 1) return;
  int i = (d * H + r) * W + c;
  y[i] = a * x[i] + b * (x[i - 1] + x[i + 1] + x[i - W] + x[i + W] + x[i - H * W] + x[i + H * W]);
}

// Planes stream through registers.
extern "C" __global__ void seven_stream(const float* __restrict__ x, float* y, int D, int H, int W, float a, float b) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < 1 || r >= H - 1 || c < 1 || c >= W - 1) return;
  int plane = H * W, i = plane + r * W + c;
  float behind = x[i - plane], here = x[i];
  for (int d = 1; d < D - 1; d++, i += plane) {
    float ahead = x[i + plane];
    y[i] = fmaf(a, here, b * ((behind + ahead) + (x[i - 1] + x[i + 1]) + (x[i - W] + x[i + W])));
    behind = here;
    here = ahead;
  }
}

// Binomial weights 1 4 6 4 1 along a row, zero beyond the ends, in one pass and as four times (1 1).
extern "C" __global__ void binomial(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float w[5] = {1.0f, 4.0f, 6.0f, 4.0f, 1.0f}, sum = 0.0f;
  for (int j = 0; j < 5; j++)
    if (i + j - 2 >= 0 && i + j - 2 < n) sum += w[j] * x[i + j - 2];
  y[i] = sum / 16.0f;
}

extern "C" __global__ void binomial_steps(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[2][68];
  int t = threadIdx.x;
  int i = blockIdx.x * 64 + t - 2;
  s[0][t] = i >= 0 && i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int step = 0; step < 4; step++) {
    if (t < 67 - step) s[step + 1 & 1][t] = 0.5f * (s[step & 1][t] + s[step & 1][t + 1]);
    __syncthreads();
  }
  if (t < 64 && blockIdx.x * 64 + t < n) y[blockIdx.x * 64 + t] = s[0][t];
}

// Wrong: the centre counts five times.
extern "C" __global__ void heat_weight(const float* __restrict__ x, float* __restrict__ y, int H, int W, float k) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= H || c >= W) return;
  int i = r * W + c;
  float v = x[i];
  if (r > 0 && r < H - 1 && c > 0 && c < W - 1) v = v + k * (x[i - W] + x[i + W] + x[i - 1] + x[i + 1] - 5.0f * v);
  y[i] = v;
}

// Wrong: the border of the tile at the top is taken from one row too low.
extern "C" __global__ void heat_halo(const float* __restrict__ x, float* __restrict__ y, int H, int W, float k) {
  __shared__ float s[10][18];
  int tx = threadIdx.x, ty = threadIdx.y, c0 = blockIdx.x * 16 - 1, r0 = blockIdx.y * 8 - 1;
  for (int e = ty * 16 + tx; e < 180; e += 128) {
    int r = max(r0 + e / 18, (int)blockIdx.y * 8), c = c0 + e % 18;
    s[e / 18][e % 18] = r >= 0 && r < H && c >= 0 && c < W ? x[r * W + c] : 0.0f;
  }
  __syncthreads();
  int r = r0 + 1 + ty, c = c0 + 1 + tx;
  if (r >= H || c >= W) return;
  float v = s[ty + 1][tx + 1];
  if (r > 0 && r < H - 1 && c > 0 && c < W - 1)
    v = v + k * (s[ty][tx + 1] + s[ty + 2][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2] - 4.0f * v);
  y[r * W + c] = v;
}

// Wrong: in one buffer: a race.
extern "C" __global__ void heat_two_steps_race(const float* __restrict__ x, float* __restrict__ y, int H, int W, float k) {
  __shared__ float s[256];
  int t = threadIdx.x, r = t / W, c = t % W;
  bool in = t < H * W, inner = in && r > 0 && r < H - 1 && c > 0 && c < W - 1;
  if (in) s[t] = x[t];
  __syncthreads();
  for (int step = 0; step < 2; step++) {
    float v = in ? s[t] : 0.0f;
    if (inner) v += k * (s[t - W] + s[t + W] + s[t - 1] + s[t + 1] - 4.0f * v);
    if (in) s[t] = v;
    __syncthreads();
  }
  if (in) y[t] = s[t];
}

// Wrong: only the first of two steps.
extern "C" __global__ void heat_one_step(const float* __restrict__ x, float* __restrict__ y, int H, int W, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < H * W) y[i] = first_step(x, i / W, i % W, H, W, k);
}
