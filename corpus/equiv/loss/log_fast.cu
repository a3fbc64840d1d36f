// Losses with logarithms.
#include <math_constants.h>

// Cross entropy: minus the logarithm of the softmax at the label.
extern "C" __global__ void cross_entropy_naive(const float* __restrict__ x, const int* __restrict__ label,
                                               float* __restrict__ loss, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  loss[r] = -logf(expf(x[r * n + label[r]]) / sum);
}

extern "C" __global__ void cross_entropy_safe(const float* __restrict__ x, const int* __restrict__ label,
                                              float* __restrict__ loss, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = 0; i < n; i++) top = fmaxf(top, x[r * n + i]);
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i] - top);
  loss[r] = logf(sum) + top - x[r * n + label[r]];
}

// A warp for each row, online.
extern "C" __global__ void cross_entropy_warp(const float* __restrict__ x, const int* __restrict__ label,
                                              float* __restrict__ loss, int rows, int n) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = lane; i < n; i += 32) {
    float v = x[r * n + i], higher = fmaxf(top, v);
    sum = sum * expf(top - higher) + expf(v - higher);
    top = higher;
  }
  for (int o = 16; o > 0; o >>= 1) {
    float top2 = __shfl_xor_sync(0xffffffffu, top, o), sum2 = __shfl_xor_sync(0xffffffffu, sum, o), higher = fmaxf(top, top2);
    sum = sum * expf(top - higher) + sum2 * expf(top2 - higher);
    top = higher;
  }
  if (lane == 0) loss[r] = logf(sum) + top - x[r * n + label[r]];
}

// Gradient of the cross entropy: softmax less one at the label.
extern "C" __global__ void cross_entropy_grad(const float* __restrict__ x, const int* __restrict__ label, float* __restrict__ dx,
                                              int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  for (int i = 0; i < n; i++) dx[r * n + i] = expf(x[r * n + i]) / sum - (i == label[r] ? 1.0f : 0.0f);
}

// Through the logarithm of the sum.
extern "C" __global__ void cross_entropy_grad_lse(const float* __restrict__ x, const int* __restrict__ label,
                                                  float* __restrict__ dx, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int i = 0; i < n; i++) top = fmaxf(top, x[r * n + i]);
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i] - top);
  float lse = top + logf(sum);
  for (int i = 0; i < n; i++) dx[r * n + i] = expf(x[r * n + i] - lse) - (i == label[r] ? 1.0f : 0.0f);
}

// Binary cross entropy of the sigmoid of x, for each element.
extern "C" __global__ void bce_naive(const float* __restrict__ x, const float* __restrict__ t, float* __restrict__ loss, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p = 1.0f / (1.0f + expf(-x[i]));
  loss[i] = -(t[i] * logf(p) + (1.0f - t[i]) * logf(1.0f - p));
}

// x - x t + log(1 + exp(-x)).
extern "C" __global__ void bce_logits(const float* __restrict__ x, const float* __restrict__ t, float* __restrict__ loss, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  loss[i] = x[i] - x[i] * t[i] + logf(1.0f + expf(-x[i]));
}

// The form that does not overflow: max(x, 0) - x t + log(1 + exp(-|x|)).
extern "C" __global__ void bce_stable(const float* __restrict__ x, const float* __restrict__ t, float* __restrict__ loss, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  loss[i] = fmaxf(x[i], 0.0f) - x[i] * t[i] + logf(1.0f + expf(-fabsf(x[i])));
}

// Kullback-Leibler divergence of each row, p and q positive.
extern "C" __global__ void kl_naive(const float* __restrict__ p, const float* __restrict__ q, float* __restrict__ loss, int rows,
                                    int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += p[r * n + i] * logf(p[r * n + i] / q[r * n + i]);
  loss[r] = sum;
}

extern "C" __global__ void kl_warp(const float* __restrict__ p, const float* __restrict__ q, float* __restrict__ loss, int rows,
                                   int n) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = lane; i < n; i += 32) sum += p[r * n + i] * (log2f(p[r * n + i]) - log2f(q[r * n + i]));
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0) loss[r] = sum * 0.69314718056f;
}

// Wrong: the label of the row before.
extern "C" __global__ void cross_entropy_label(const float* __restrict__ x, const int* __restrict__ label,
                                               float* __restrict__ loss, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  loss[r] = logf(sum) - x[r * n + label[r > 0 ? r - 1 : 0]];
}

// Wrong: logarithm in base two.
extern "C" __global__ void cross_entropy_log2(const float* __restrict__ x, const int* __restrict__ label,
                                              float* __restrict__ loss, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  loss[r] = log2f(sum) - x[r * n + label[r]];
}

// Wrong: the sign.
extern "C" __global__ void cross_entropy_sign(const float* __restrict__ x, const int* __restrict__ label,
                                              float* __restrict__ loss, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += expf(x[r * n + i]);
  loss[r] = x[r * n + label[r]] - logf(sum);
}

// Wrong: the term of the other class is left out.
extern "C" __global__ void bce_half(const float* __restrict__ x, const float* __restrict__ t, float* __restrict__ loss, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  loss[i] = t[i] * logf(1.0f + expf(-x[i]));
}

// Wrong: exp(-x) where exp(-|x|) is meant, with max(x, 0) kept.
extern "C" __global__ void bce_no_abs(const float* __restrict__ x, const float* __restrict__ t, float* __restrict__ loss, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  loss[i] = fmaxf(x[i], 0.0f) - x[i] * t[i] + logf(1.0f + expf(-x[i]));
}
