// Softmax kernels with a mistake; what is wrong stands above each.
#include <math_constants.h>

// The sums of the two halves are added without bringing them to one maximum.
extern "C" __global__ void no_rescale(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  __shared__ float tops[64], sums[64];
  int t = threadIdx.x;
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = t; i < n; i += 64) {
    float v = x[i], higher = fmaxf(top, v);
    sum = sum * expf(top - higher) + expf(v - higher);
    top = higher;
  }
  tops[t] = top;
  sums[t] = sum;
  __syncthreads();
  for (int o = 32; o > 0; o >>= 1) {
    if (t < o) {
      tops[t] = fmaxf(tops[t], tops[t + o]);
      sums[t] += sums[t + o];
    }
    __syncthreads();
  }
  top = tops[0];
  sum = sums[0];
  for (int i = t; i < n; i += 64) y[i] = expf(x[i] - top) / sum;
}

// The pairs of maximum and sum of threads without elements are (-inf, 0), and -inf - -inf is no number.
extern "C" __global__ void empty_threads(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  __shared__ float tops[64], sums[64];
  int t = threadIdx.x;
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = t; i < n; i += 64) {
    float v = x[i], higher = fmaxf(top, v);
    sum = sum * expf(top - higher) + expf(v - higher);
    top = higher;
  }
  tops[t] = top;
  sums[t] = sum;
  __syncthreads();
  for (int o = 32; o > 0; o >>= 1) {
    if (t < o) {
      float a = tops[t], b = tops[t + o], higher = fmaxf(a, b);
      sums[t] = sums[t] * expf(a - higher) + sums[t + o] * expf(b - higher);
      tops[t] = higher;
    }
    __syncthreads();
  }
  top = tops[0];
  sum = sums[0];
  for (int i = t; i < n; i += 64) y[i] = expf(x[i] - top) / sum;
}

// The sum lacks the last element.
extern "C" __global__ void short_sum(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F;
  for (int i = 0; i < n; i++) top = fmaxf(top, x[r * n + i]);
  float sum = 0.0f;
  for (int i = 0; i < n - 1; i++) sum += expf(x[r * n + i] - top);
  for (int i = 0; i < n; i++) y[r * n + i] = expf(x[r * n + i] - top) / sum;
}

// The last element of each row is not written.
extern "C" __global__ void unwritten_tail(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  for (int i = 0; i < n / 4 * 4; i++) y[r * n + i] = expf(x[r * n + i]) / sum;
}

// One n-th everywhere: right in the mean, and where all elements of a row are equal.
extern "C" __global__ void uniform(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  for (int i = 0; i < n; i++) y[r * n + i] = 1.0f / n;
}

// Zeros.
extern "C" __global__ void zeros(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * n) y[i] = 0.0f;
}

// The tree of shuffles starts at eight: each half of the warp has a sum of its own.
extern "C" __global__ void half_warp(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  x += r * n;
  y += r * n;
  float top = -CUDART_INF_F;
  for (int i = lane; i < n; i += 32) top = fmaxf(top, x[i]);
  for (int o = 16; o > 0; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
  float sum = 0.0f;
  for (int i = lane; i < n; i += 32) sum += expf(x[i] - top);
  for (int o = 8; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  for (int i = lane; i < n; i += 32) y[i] = expf(x[i] - top) / sum;
}

// The tree of the maximum is the one that starts at eight: two shifts, but one sum.
extern "C" __global__ void half_warp_max(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  x += r * n;
  y += r * n;
  float top = -CUDART_INF_F;
  for (int i = lane; i < n; i += 32) top = fmaxf(top, x[i]);
  for (int o = 8; o > 0; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
  float sum = 0.0f;
  for (int i = lane; i < n; i += 32) sum += expf(x[i] - top);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  for (int i = lane; i < n; i += 32) y[i] = expf(x[i] - top) / sum;
}

// The last block takes the row before its own.
extern "C" __global__ void one_block(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x, from = r == rows - 1 ? r - 1 : r;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[from * n + i]);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[r * n + i] = expf(x[from * n + i]) / sum;
}

// part[0] is read while the next tree already fills it: a race.
extern "C" __global__ void reused_part(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  __shared__ float part[64];
  int t = threadIdx.x;
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float top = -CUDART_INF_F;
  for (int i = t; i < n; i += 64) top = fmaxf(top, x[i]);
  part[t] = top;
  __syncthreads();
  for (int o = 32; o > 0; o >>= 1) {
    if (t < o) part[t] = fmaxf(part[t], part[t + o]);
    __syncthreads();
  }
  top = part[0];
  float sum = 0.0f;
  for (int i = t; i < n; i += 64) sum += expf(x[i] - top);
  part[t] = sum;
  __syncthreads();
  for (int o = 32; o > 0; o >>= 1) {
    if (t < o) part[t] += part[t + o];
    __syncthreads();
  }
  sum = part[0];
  for (int i = t; i < n; i += 64) y[i] = expf(x[i] - top) / sum;
}

// The mask lets element row + 1 through.
extern "C" __global__ void causal_off_by_one(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i <= r + 1 && i < n; i++) sum += expf(x[r * n + i]);
  for (int i = 0; i < n; i++) y[r * n + i] = i <= r + 1 ? expf(x[r * n + i]) / sum : 0.0f;
}

// Masked elements are zero before the exponential, where they should be minus infinity.
extern "C" __global__ void causal_zero_mask(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(i <= r ? x[r * n + i] : 0.0f);
  for (int i = 0; i < n; i++) y[r * n + i] = i <= r ? expf(x[r * n + i]) / sum : 0.0f;
}

// The scale is left out of the numerator.
extern "C" __global__ void scaled_once(const float* __restrict__ x, float* __restrict__ y, int rows, int n, float scale) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(scale * x[r * n + i]);
  for (int i = 0; i < n; i++) y[r * n + i] = expf(x[r * n + i]) / sum;
}

// scale x and the maximum of x, without the scale.
extern "C" __global__ void max_unscaled(const float* __restrict__ x, float* __restrict__ y, int rows, int n, float scale) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F;
  for (int i = 0; i < n; i++) top = fmaxf(top, x[r * n + i]);
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(scale * x[r * n + i] - top);
  for (int i = 0; i < n; i++) y[r * n + i] = expf(scale * x[r * n + i] - top) / sum;
}

// The sum of g y lacks the factor y.
extern "C" __global__ void backward_dot(const float* __restrict__ x, const float* __restrict__ g, float* __restrict__ dx,
                                        int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f, dot = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  for (int i = 0; i < n; i++) dot += g[r * n + i];
  for (int i = 0; i < n; i++) dx[r * n + i] = expf(x[r * n + i]) / sum * (g[r * n + i] - dot);
}
