// Kernels that are launched one after the other: a launch works on what the one before it left.
#include <math_constants.h>

// C = A B, M by K by N, row-major.
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
  C[i * N + j] = sum;
}

// Part z of the sum, of parts of `length`.
extern "C" __global__ void split_k(const float* A, const float* B, float* parts, int M, int N, int K, int length) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j >= N) return;
  int first = blockIdx.z * length, last = min(first + length, K);
  float sum = 0.0f;
  for (int k = first; k < last; k++) sum += A[i * K + k] * B[k * N + j];
  parts[(blockIdx.z * M + i) * N + j] = sum;
}

// Wrong: parts overlap by one.
extern "C" __global__ void split_k_overlap(const float* A, const float* B, float* parts, int M, int N, int K, int length) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j >= N) return;
  int first = blockIdx.z * length, last = min(first + length + 1, K);
  float sum = 0.0f;
  for (int k = first; k < last; k++) sum += A[i * K + k] * B[k * N + j];
  parts[(blockIdx.z * M + i) * N + j] = sum;
}

// Adds up parts of `size` elements.
extern "C" __global__ void combine(const float* parts, float* C, int size, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  float sum = 0.0f;
  for (int part = 0; part < count; part++) sum += parts[part * size + i];
  C[i] = sum;
}

// C = max(C + bias, 0), bias by columns.
extern "C" __global__ void bias_relu(float* C, const float* bias, int size, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) C[i] = fmaxf(C[i] + bias[i % columns], 0.0f);
}

// The same in one kernel.
extern "C" __global__ void gemm_bias_relu(const float* A, const float* B, const float* bias, float* C, int M, int N, int K) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j >= N) return;
  float sum = bias[j];
  for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
  C[i * N + j] = sum > 0.0f ? sum : 0.0f;
}

// Wrong: the bias is added after the maximum is taken.
extern "C" __global__ void gemm_relu_bias(const float* A, const float* B, const float* bias, float* C, int M, int N, int K) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
  C[i * N + j] = fmaxf(sum, 0.0f) + bias[j];
}

// The sum of x by one thread.
extern "C" __global__ void sum(const float* x, float* y, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += x[i];
  y[0] = sum;
}

// Sums of blocks of 64 threads; launched again, with one block, it adds up the sums.
extern "C" __global__ void sum_block(const float* x, float* y, int n) {
  __shared__ float part[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}

// y = 0, then y[0] += x.
extern "C" __global__ void zero(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.0f;
}

extern "C" __global__ void accumulate(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(y, x[i]);
}

// One query, n keys: softmax(s) V, where s are n scores and V is n by d; a thread for each column.
extern "C" __global__ void decode(const float* s, const float* V, float* o, int n, int d) {
  float sum = 0.0f, out = 0.0f;
  for (int i = 0; i < n; i++) {
    sum += expf(s[i]);
    out += expf(s[i]) * V[i * d + threadIdx.x];
  }
  o[threadIdx.x] = out / sum;
}

// A part of the keys for each block: its maximum, its sum and its output, not normalised.
extern "C" __global__ void decode_part(const float* s, const float* V, float* tops, float* sums, float* outs, int n, int d,
                                       int length) {
  int first = blockIdx.x * length, last = min(first + length, n);
  float top = -CUDART_INF_F, sum = 0.0f, out = 0.0f;
  for (int i = first; i < last; i++) top = fmaxf(top, s[i]);
  for (int i = first; i < last; i++) {
    float weight = expf(s[i] - top);
    sum += weight;
    out += weight * V[i * d + threadIdx.x];
  }
  outs[blockIdx.x * d + threadIdx.x] = out;
  if (threadIdx.x == 0) {
    tops[blockIdx.x] = top;
    sums[blockIdx.x] = sum;
  }
}

extern "C" __global__ void decode_join(const float* tops, const float* sums, const float* outs, float* o, int parts, int d) {
  float top = -CUDART_INF_F, sum = 0.0f, out = 0.0f;
  for (int p = 0; p < parts; p++) top = fmaxf(top, tops[p]);
  for (int p = 0; p < parts; p++) {
    float scale = expf(tops[p] - top);
    sum += scale * sums[p];
    out += scale * outs[p * d + threadIdx.x];
  }
  o[threadIdx.x] = out / sum;
}

// Wrong: the output is not rescaled to the common maximum, the sum is.
extern "C" __global__ void decode_join_unscaled(const float* tops, const float* sums, const float* outs, float* o, int parts,
                                                int d) {
  float top = -CUDART_INF_F, sum = 0.0f, out = 0.0f;
  for (int p = 0; p < parts; p++) top = fmaxf(top, tops[p]);
  for (int p = 0; p < parts; p++) {
    sum += expf(tops[p] - top) * sums[p];
    out += outs[p * d + threadIdx.x];
  }
  o[threadIdx.x] = out / sum;
}

// A table of places, then a copy by it: y is x backwards.
extern "C" __global__ void places(int* at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) at[i] = n - 1 - i;
}

extern "C" __global__ void gather(const float* x, const int* at, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[at[i]];
}

extern "C" __global__ void backwards(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[n - 1 - i] = x[i];
}

// Wrong: leaves the first sum out of memory, so that the next launch finds nothing there.
extern "C" __global__ void sum_block_late(const float* x, float* y, int n) {
  if (blockIdx.x > 0) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 64; i < blockIdx.x * 64 + 64 && i < n; i++) sum += x[i];
    y[blockIdx.x] = sum;
  }
}

// By way of a module variable, which is not followed from one launch to the next.
__device__ float kept;

extern "C" __global__ void keep(const float* x) { kept = x[0]; }

extern "C" __global__ void recall(float* y) { y[0] = kept; }
