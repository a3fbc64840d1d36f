// Cross-entropy with targets that are data.

extern "C" __global__ void nll(const float* x, const int* target, float* out, int classes) {
  int i = threadIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < classes; j++) sum += expf(x[i * classes + j]);
  out[i] = logf(sum) - x[i * classes + target[i]];
}

extern "C" __global__ void nll_stable(const float* x, const int* target, float* out, int classes) {
  int i = threadIdx.x;
  float top = x[i * classes];
  for (int j = 1; j < classes; j++) top = fmaxf(top, x[i * classes + j]);
  float sum = 0.0f;
  for (int j = 0; j < classes; j++) sum += expf(x[i * classes + j] - top);
  out[i] = logf(sum) + top - x[i * classes + target[i]];
}

extern "C" __global__ void nll_warp(const float* x, const int* target, float* out, int classes) {
  int i = blockIdx.x;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < classes; j += 32) sum += expf(x[i * classes + j]);
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x == 0) out[i] = logf(sum) - x[i * classes + target[i]];
}

// the maximum is not added back
extern "C" __global__ void nll_unshifted(const float* x, const int* target, float* out, int classes) {
  int i = threadIdx.x;
  float top = x[i * classes];
  for (int j = 1; j < classes; j++) top = fmaxf(top, x[i * classes + j]);
  float sum = 0.0f;
  for (int j = 0; j < classes; j++) sum += expf(x[i * classes + j] - top);
  out[i] = logf(sum) - x[i * classes + target[i]];
}

// the target of the first row for all
extern "C" __global__ void nll_first(const float* x, const int* target, float* out, int classes) {
  int i = threadIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < classes; j++) sum += expf(x[i * classes + j]);
  out[i] = logf(sum) - x[i * classes + target[0]];
}

// the gradient: softmax, and one less at the target
extern "C" __global__ void grad(const float* x, const int* target, float* dx, int classes) {
  int i = threadIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < classes; j++) sum += expf(x[i * classes + j]);
  for (int j = 0; j < classes; j++)
    dx[i * classes + j] = expf(x[i * classes + j]) / sum - (j == target[i] ? 1.0f : 0.0f);
}

extern "C" __global__ void grad_flat(const float* x, const int* target, float* dx, int classes) {
  int i = blockIdx.x, j = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < classes; k++) sum += expf(x[i * classes + k]);
  float p = expf(x[i * classes + j]) / sum;
  dx[i * classes + j] = target[i] == j ? p - 1.0f : p;
}

extern "C" __global__ void grad_sign(const float* x, const int* target, float* dx, int classes) {
  int i = blockIdx.x, j = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < classes; k++) sum += expf(x[i * classes + k]);
  float p = expf(x[i * classes + j]) / sum;
  dx[i * classes + j] = target[i] == j ? p + 1.0f : p;
}
