// Logarithm of softmax and logarithm of the sum of exponentials, of each row of x (rows by n).
#include <math_constants.h>

extern "C" __global__ void log_of_softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  for (int i = 0; i < n; i++) y[r * n + i] = logf(expf(x[r * n + i]) / sum);
}

extern "C" __global__ void log_softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = 0; i < n; i++) top = fmaxf(top, x[r * n + i]);
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i] - top);
  float shift = top + logf(sum);
  for (int i = 0; i < n; i++) y[r * n + i] = x[r * n + i] - shift;
}

extern "C" __global__ void log_softmax_warp(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = lane; i < n; i += 32) top = fmaxf(top, x[r * n + i]);
  for (int o = 16; o > 0; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
  for (int i = lane; i < n; i += 32) sum += expf(x[r * n + i] - top);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  float log_sum = logf(sum);
  for (int i = lane; i < n; i += 32) y[r * n + i] = (x[r * n + i] - top) - log_sum;
}

// Wrong: the maximum is not added back.
extern "C" __global__ void log_softmax_no_max(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = 0; i < n; i++) top = fmaxf(top, x[r * n + i]);
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i] - top);
  for (int i = 0; i < n; i++) y[r * n + i] = x[r * n + i] - logf(sum);
}

extern "C" __global__ void lse(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  y[r] = logf(sum);
}

extern "C" __global__ void lse_online(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = 0; i < n; i++) {
    float v = x[r * n + i], higher = fmaxf(top, v);
    sum = sum * expf(top - higher) + expf(v - higher);
    top = higher;
  }
  y[r] = top + logf(sum);
}
