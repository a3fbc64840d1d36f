// References: one thread for each output, sums in single precision.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float value(__half x) { return __half2float(x); }
__device__ float value(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ float value(float x) { return x; }

// C = A B for row-major A (M by K), B (K by N), C (M by N).
template <typename T>
__device__ void gemm(const T* A, const T* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) sum += value(A[row * K + k]) * value(B[k * N + col]);
  C[row * N + col] = sum;
}
extern "C" __global__ void gemm_f16(const __half* A, const __half* B, float* C, int M, int N, int K) { gemm(A, B, C, M, N, K); }
extern "C" __global__ void gemm_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
  gemm(A, B, C, M, N, K);
}
extern "C" __global__ void gemm_f32(const float* A, const float* B, float* C, int M, int N, int K) { gemm(A, B, C, M, N, K); }

// D = alpha A B + beta C.
extern "C" __global__ void gemm_alpha_beta(const __half* A, const __half* B, const float* C, float* D, int M, int N, int K, float alpha,
                                           float beta) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
  D[row * N + col] = alpha * sum + beta * C[row * N + col];
}

// C = A B in half precision.
extern "C" __global__ void gemm_half(const __half* A, const __half* B, __half* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  __half sum = __float2half(0.0f);
  for (int k = 0; k < K; k++) sum = __hfma(A[row * K + k], B[k * N + col], sum);
  C[row * N + col] = sum;
}

// O = softmax(scale Q K^T) V: queries (L by D), keys and values (S by D); one thread for a query.
template <int D>
__device__ void attention(const __half* Q, const __half* K, const __half* V, float* O, int L, int S, float scale) {
  int query = blockIdx.x * blockDim.x + threadIdx.x;
  if (query >= L) return;
  float sum = 0.0f, out[D];
  for (int d = 0; d < D; d++) out[d] = 0.0f;
  for (int key = 0; key < S; key++) {
    float score = 0.0f;
    for (int d = 0; d < D; d++) score += __half2float(Q[query * D + d]) * __half2float(K[key * D + d]);
    float weight = __expf(scale * score);
    sum += weight;
    for (int d = 0; d < D; d++) out[d] += weight * __half2float(V[key * D + d]);
  }
  for (int d = 0; d < D; d++) O[query * D + d] = out[d] / sum;
}
extern "C" __global__ void attention_16(const __half* Q, const __half* K, const __half* V, float* O, int L, int S, float scale) {
  attention<16>(Q, K, V, O, L, S, scale);
}
extern "C" __global__ void attention_64(const __half* Q, const __half* K, const __half* V, float* O, int L, int S, float scale) {
  attention<64>(Q, K, V, O, L, S, scale);
}

// A 3 by 3 convolution with zeros around: x is H by W by C, w is 3 by 3 by C by F, y is H by W by F.
extern "C" __global__ void conv(const __half* x, const __half* w, float* y, int H, int W, int C, int F) {
  int pixel = blockIdx.y * blockDim.y + threadIdx.y, filter = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= H * W || filter >= F) return;
  int row = pixel / W, col = pixel % W;
  float sum = 0.0f;
  for (int r = 0; r < 3; r++)
    for (int s = 0; s < 3; s++) {
      int y0 = row + r - 1, x0 = col + s - 1;
      if (y0 < 0 || y0 >= H || x0 < 0 || x0 >= W) continue;
      for (int c = 0; c < C; c++) sum += __half2float(x[(y0 * W + x0) * C + c]) * __half2float(w[((r * 3 + s) * C + c) * F + filter]);
    }
  y[pixel * F + filter] = sum;
}

// Sums in single precision, results in half.
extern "C" __global__ void gemm_to_half(const __half* a, const __half* b, __half* c, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) sum += __half2float(a[row * K + k]) * __half2float(b[k * N + col]);
  c[row * N + col] = __float2half(sum);
}

// Attention of several heads (along y) with d = 64; a thread for a query.
template <bool CAUSAL>
__device__ void heads(const __half* Q, const __half* K, const __half* V, __half* O, float scale, int N) {
  int query = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y * N * 64;
  float sum = 0.0f, out[64];
  for (int d = 0; d < 64; d++) out[d] = 0.0f;
  for (int key = 0; key < N; key++) {
    float score = 0.0f;
    for (int d = 0; d < 64; d++) score += __half2float(Q[head + query * 64 + d]) * __half2float(K[head + key * 64 + d]);
    float weight = CAUSAL && key > query ? 0.0f : __expf(scale * score);
    sum += weight;
    for (int d = 0; d < 64; d++) out[d] += weight * __half2float(V[head + key * 64 + d]);
  }
  for (int d = 0; d < 64; d++) O[head + query * 64 + d] = __float2half(out[d] / sum);
}
extern "C" __global__ void attention_heads(const __half* Q, const __half* K, const __half* V, __half* O, float scale, int N) {
  heads<false>(Q, K, V, O, scale, N);
}
extern "C" __global__ void attention_heads_causal(const __half* Q, const __half* K, const __half* V, __half* O, float scale, int N) {
  heads<true>(Q, K, V, O, scale, N);
}
