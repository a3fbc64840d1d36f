// Pooling of x [H, W].
#include <math_constants.h>

// Maximum of 2 by 2.
extern "C" __global__ void max2(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= H / 2 * (W / 2)) return;
  int h = 2 * (i / (W / 2)), c = 2 * (i % (W / 2));
  float top = -CUDART_INF_F;
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2; b++) top = fmaxf(top, x[(h + a) * W + c + b]);
  y[i] = top;
}

// Two outputs for each thread, float4.
extern "C" __global__ void max2_vec4(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= H / 2 * (W / 4)) return;
  int h = i / (W / 4), c = i % (W / 4);
  float4 a = ((const float4*)x)[2 * h * (W / 4) + c], b = ((const float4*)x)[(2 * h + 1) * (W / 4) + c];
  ((float2*)y)[i] = make_float2(fmaxf(fmaxf(b.y, a.x), fmaxf(b.x, a.y)), fmaxf(fmaxf(a.z, a.w), fmaxf(b.z, b.w)));
}

// Maximum of 3 by 3, padded by one, stride one.
extern "C" __global__ void max3(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y * blockDim.y + threadIdx.y;
  if (h >= H || c >= W) return;
  float top = -CUDART_INF_F;
  for (int a = -1; a <= 1; a++)
    for (int b = -1; b <= 1; b++)
      if (h + a >= 0 && h + a < H && c + b >= 0 && c + b < W) top = fmaxf(top, x[(h + a) * W + c + b]);
  y[h * W + c] = top;
}

// First along rows into shared memory, then along columns; 8 by 8 outputs.
extern "C" __global__ void max3_separable(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  __shared__ float rows[10][8];
  int tx = threadIdx.x, ty = threadIdx.y;
  int c = blockIdx.x * 8 + tx, h0 = blockIdx.y * 8;
  for (int r = ty; r < 10; r += 8) {
    int h = h0 + r - 1;
    float top = -CUDART_INF_F;
    for (int b = -1; b <= 1; b++)
      if (h >= 0 && h < H && c + b >= 0 && c + b < W) top = fmaxf(top, x[h * W + c + b]);
    rows[r][tx] = top;
  }
  __syncthreads();
  if (h0 + ty < H && c < W) y[(h0 + ty) * W + c] = fmaxf(rows[ty][tx], fmaxf(rows[ty + 1][tx], rows[ty + 2][tx]));
}

// Mean of 3 by 3, padded by one; only elements inside count.
extern "C" __global__ void mean3(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y * blockDim.y + threadIdx.y;
  if (h >= H || c >= W) return;
  float sum = 0.0f;
  int count = 0;
  for (int a = -1; a <= 1; a++)
    for (int b = -1; b <= 1; b++)
      if (h + a >= 0 && h + a < H && c + b >= 0 && c + b < W) {
        sum += x[(h + a) * W + c + b];
        count++;
      }
  y[h * W + c] = sum / count;
}

// A column of threads slides down, three sums of rows in registers.
extern "C" __global__ void mean3_sliding(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= W) return;
  int left = max(c - 1, 0), right = min(c + 1, W - 1);
  float above = 0.0f, here = 0.0f;
  for (int q = left; q <= right; q++) here += x[q];
  for (int h = 0; h < H; h++) {
    float below = 0.0f;
    if (h + 1 < H)
      for (int q = left; q <= right; q++) below += x[(h + 1) * W + q];
    int rows = 1 + (h > 0) + (h + 1 < H);
    y[h * W + c] = (above + here + below) * (1.0f / (rows * (right - left + 1)));
    above = here;
    here = below;
  }
}

// Mean of all elements of each of C channels: x [C, n].
extern "C" __global__ void global_mean(const float* __restrict__ x, float* __restrict__ y, int C, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += x[c * n + i];
  y[c] = sum / n;
}

extern "C" __global__ void global_mean_warp(const float* __restrict__ x, float* __restrict__ y, int C, int n) {
  int c = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (c >= C) return;
  float sum = 0.0f, scale = 1.0f / n;
  for (int i = lane; i < n; i += 32) sum += x[c * n + i] * scale;
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (lane == 0) y[c] = sum;
}

// Wrong: the maximum starts at zero.
extern "C" __global__ void max2_from_zero(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= H / 2 * (W / 2)) return;
  int h = 2 * (i / (W / 2)), c = 2 * (i % (W / 2));
  float top = 0.0f;
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2; b++) top = fmaxf(top, x[(h + a) * W + c + b]);
  y[i] = top;
}

// Wrong: the fourth element of each window is left out.
extern "C" __global__ void max2_three(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= H / 2 * (W / 2)) return;
  int h = 2 * (i / (W / 2)), c = 2 * (i % (W / 2));
  y[i] = fmaxf(fmaxf(x[h * W + c], x[h * W + c + 1]), x[(h + 1) * W + c]);
}

// Wrong: over nine at the border too.
extern "C" __global__ void mean3_nine(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y * blockDim.y + threadIdx.y;
  if (h >= H || c >= W) return;
  float sum = 0.0f;
  for (int a = -1; a <= 1; a++)
    for (int b = -1; b <= 1; b++)
      if (h + a >= 0 && h + a < H && c + b >= 0 && c + b < W) sum += x[(h + a) * W + c + b];
  y[h * W + c] = sum / 9.0f;
}

// Wrong: the window of the last column reaches round into the next row.
extern "C" __global__ void max3_wrapped(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y * blockDim.y + threadIdx.y;
  if (h >= H || c >= W) return;
  float top = -CUDART_INF_F;
  for (int a = -1; a <= 1; a++)
    for (int b = -1; b <= 1; b++) {
      int at = (h + a) * W + c + b;
      if (at >= 0 && at < H * W) top = fmaxf(top, x[at]);
    }
  y[h * W + c] = top;
}
