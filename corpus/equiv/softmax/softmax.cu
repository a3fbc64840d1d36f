// Softmax of each row of x (rows by n).
#include <math_constants.h>

// One thread for each row, as the formula says it.
extern "C" __global__ void naive(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  for (int i = 0; i < n; i++) y[r * n + i] = expf(x[r * n + i]) / sum;
}

// One thread for each row; the maximum first.
extern "C" __global__ void safe(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F;
  for (int i = 0; i < n; i++) top = fmaxf(top, x[r * n + i]);
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i] - top);
  for (int i = 0; i < n; i++) y[r * n + i] = expf(x[r * n + i] - top) / sum;
}

// The same, with one reciprocal for a row.
extern "C" __global__ void safe_reciprocal(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = x[r * n];
  for (int i = 1; i < n; i++) top = fmaxf(x[r * n + i], top);
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    float e = expf(x[r * n + i] - top);
    y[r * n + i] = e;
    sum += e;
  }
  float inverse = 1.0f / sum;
  for (int i = 0; i < n; i++) y[r * n + i] *= inverse;
}

// One thread for each row; maximum and sum in one pass.
extern "C" __global__ void online(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = 0; i < n; i++) {
    float v = x[r * n + i], higher = fmaxf(top, v);
    sum = sum * expf(top - higher) + expf(v - higher);
    top = higher;
  }
  for (int i = 0; i < n; i++) y[r * n + i] = expf(x[r * n + i] - top) / sum;
}

// A block of 64 threads for each row: trees in shared memory.
extern "C" __global__ void block_tree(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
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
  __syncthreads();
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

// A block of 64 threads for each row; pairs of maximum and sum are joined in a tree. n is at least 64.
extern "C" __global__ void block_online(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
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

// A warp for each row, several rows in a block; shuffles only.
extern "C" __global__ void warp_shuffle(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  x += r * n;
  y += r * n;
  float top = -CUDART_INF_F;
  for (int i = lane; i < n; i += 32) top = fmaxf(top, x[i]);
  for (int o = 16; o > 0; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
  float sum = 0.0f;
  for (int i = lane; i < n; i += 32) sum += expf(x[i] - top);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  for (int i = lane; i < n; i += 32) y[i] = expf(x[i] - top) / sum;
}

// A warp for each row of 128, float4 in registers, two rows at a time.
extern "C" __global__ void warp_rows(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r0 = 2 * (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32), lane = threadIdx.x % 32;
  float4 v[2];
  float top[2], sum[2];
  for (int j = 0; j < 2; j++) {
    v[j] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (r0 + j < rows) v[j] = ((const float4*)(x + (r0 + j) * 128))[lane];
    top[j] = fmaxf(fmaxf(v[j].x, v[j].y), fmaxf(v[j].z, v[j].w));
  }
  for (int o = 16; o > 0; o >>= 1)
    for (int j = 0; j < 2; j++) top[j] = fmaxf(top[j], __shfl_xor_sync(0xffffffffu, top[j], o));
  for (int j = 0; j < 2; j++) {
    v[j].x = expf(v[j].x - top[j]);
    v[j].y = expf(v[j].y - top[j]);
    v[j].z = expf(v[j].z - top[j]);
    v[j].w = expf(v[j].w - top[j]);
    sum[j] = (v[j].x + v[j].y) + (v[j].z + v[j].w);
  }
  for (int o = 16; o > 0; o >>= 1)
    for (int j = 0; j < 2; j++) sum[j] += __shfl_xor_sync(0xffffffffu, sum[j], o);
  for (int j = 0; j < 2; j++)
    if (r0 + j < rows)
      ((float4*)(y + (r0 + j) * 128))[lane] = make_float4(v[j].x / sum[j], v[j].y / sum[j], v[j].z / sum[j], v[j].w / sum[j]);
}

// Not the maximum but the first element of the row is taken off: any shift will do.
extern "C" __global__ void any_shift(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float shift = x[r * n];
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i] - shift);
  for (int i = 0; i < n; i++) y[r * n + i] = expf(x[r * n + i] - shift) / sum;
}

// The maximum of all but the last element of the row: in real numbers still a softmax.
extern "C" __global__ void partial_max(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F;
  for (int i = 0; i < n - 1; i++) top = fmaxf(top, x[r * n + i]);
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i] - top);
  for (int i = 0; i < n; i++) y[r * n + i] = expf(x[r * n + i] - top) / sum;
}

// softmax(scale x).
extern "C" __global__ void scaled(const float* __restrict__ x, float* __restrict__ y, int rows, int n, float scale) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F;
  for (int i = 0; i < n; i++) top = fmaxf(top, scale * x[r * n + i]);
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(scale * x[r * n + i] - top);
  for (int i = 0; i < n; i++) y[r * n + i] = expf(scale * x[r * n + i] - top) / sum;
}

// In base two, given scale times log2(e): one multiply-add and one ex2 for each element.
extern "C" __global__ void scaled_exp2(const float* __restrict__ x, float* __restrict__ y, int rows, int n, float scale2) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F;
  for (int i = 0; i < n; i++) top = fmaxf(top, x[r * n + i]);
  float shift = top * scale2;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += exp2f(x[r * n + i] * scale2 - shift);
  for (int i = 0; i < n; i++) y[r * n + i] = exp2f(x[r * n + i] * scale2 - shift) / sum;
}

// Element i takes part where i <= row; the others are zero.
extern "C" __global__ void causal(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i <= r && i < n; i++) sum += expf(x[r * n + i]);
  for (int i = 0; i < n; i++) y[r * n + i] = i <= r ? expf(x[r * n + i]) / sum : 0.0f;
}

// The same by a mask of minus infinity, a warp for each row.
extern "C" __global__ void causal_warp(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  x += r * n;
  y += r * n;
  float top = -CUDART_INF_F;
  for (int i = lane; i < n; i += 32) top = fmaxf(top, i <= r ? x[i] : -CUDART_INF_F);
  for (int o = 16; o > 0; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
  float sum = 0.0f;
  for (int i = lane; i < n; i += 32) sum += expf((i <= r ? x[i] : -CUDART_INF_F) - top);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  for (int i = lane; i < n; i += 32) y[i] = expf((i <= r ? x[i] : -CUDART_INF_F) - top) / sum;
}

// Softmax in place: a thread for each row.
extern "C" __global__ void in_place(float* x, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    float e = expf(x[r * n + i]);
    x[r * n + i] = e;
    sum += e;
  }
  for (int i = 0; i < n; i++) x[r * n + i] /= sum;
}

extern "C" __global__ void in_place_safe(float* x, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = 0; i < n; i++) top = fmaxf(top, x[r * n + i]);
  for (int i = 0; i < n; i++) {
    float e = expf(x[r * n + i] - top);
    x[r * n + i] = e;
    sum += e;
  }
  float inverse = 1.0f / sum;
  for (int i = 0; i < n; i++) x[r * n + i] *= inverse;
}

// Gradient: y (g - sum of g y), straight from x.
extern "C" __global__ void backward(const float* __restrict__ x, const float* __restrict__ g, float* __restrict__ dx, int rows,
                                    int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f, dot = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  for (int i = 0; i < n; i++) dot += g[r * n + i] * (expf(x[r * n + i]) / sum);
  for (int i = 0; i < n; i++) dx[r * n + i] = expf(x[r * n + i]) / sum * (g[r * n + i] - dot);
}

// Both sums in one pass, a warp for each row.
extern "C" __global__ void backward_warp(const float* __restrict__ x, const float* __restrict__ g, float* __restrict__ dx,
                                         int rows, int n) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float top = -CUDART_INF_F, sum = 0.0f, dot = 0.0f;
  for (int i = lane; i < n; i += 32) top = fmaxf(top, x[r * n + i]);
  for (int o = 16; o > 0; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
  for (int i = lane; i < n; i += 32) {
    float e = expf(x[r * n + i] - top);
    sum += e;
    dot += e * g[r * n + i];
  }
  for (int o = 16; o > 0; o >>= 1) {
    sum += __shfl_xor_sync(0xffffffffu, sum, o);
    dot += __shfl_xor_sync(0xffffffffu, dot, o);
  }
  float inverse = 1.0f / sum;
  dot *= inverse;
  for (int i = lane; i < n; i += 32) dx[r * n + i] = expf(x[r * n + i] - top) * inverse * (g[r * n + i] - dot);
}
