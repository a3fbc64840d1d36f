// References: a thread for each element of the result. B is N by K, and A is M by K, unless the name says otherwise.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float value(__half x) { return __half2float(x); }
__device__ float value(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ float value(float x) { return x; }
__device__ int value(signed char x) { return x; }
__device__ float from_e4m3(unsigned char x) {
  unsigned int pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)x));
  return __half2float(__ushort_as_half((unsigned short)pair));
}

enum Layout { COLUMNS, ROWS, LEFT_COLUMNS };
template <class T, class S, Layout LAYOUT>
__device__ S product(const T *A, const T *B, int m, int n, int M, int N, int K) {
  S sum = 0;
  for (int k = 0; k < K; k++) sum += value(LAYOUT == LEFT_COLUMNS ? A[k * M + m] : A[m * K + k]) * value(LAYOUT == ROWS ? B[k * N + n] : B[n * K + k]);
  return sum;
}
#define GEMM(NAME, T, S, LAYOUT, STORE) \
  extern "C" __global__ void NAME(const T *A, const T *B, S *C, int M, int N, int K) { \
    int m = blockIdx.y * blockDim.y + threadIdx.y, n = blockIdx.x * blockDim.x + threadIdx.x; \
    if (m < M && n < N) C[m * N + n] STORE product<T, S, LAYOUT>(A, B, m, n, M, N, K); \
  }
GEMM(gemm_f16, __half, float, COLUMNS, =)
GEMM(gemm_f16_rows, __half, float, ROWS, =)
GEMM(gemm_f16_left_columns, __half, float, LEFT_COLUMNS, =)
GEMM(gemm_bf16, __nv_bfloat16, float, COLUMNS, =)
GEMM(gemm_tf32, float, float, COLUMNS, =)
GEMM(gemm_s8, signed char, int, COLUMNS, =)
GEMM(gemm_f16_add, __half, float, COLUMNS, +=)

// One scale for each factor.
extern "C" __global__ void gemm_e4m3(const unsigned char *A, const unsigned char *B, float *C, float scale_a, float scale_b, int M, int N, int K) {
  int m = blockIdx.y * blockDim.y + threadIdx.y, n = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; k++) sum += from_e4m3(A[m * K + k]) * from_e4m3(B[n * K + k]);
  C[m * N + n] = scale_a * scale_b * sum;
}
// A scale for 128 elements of a row of A, and for 128 elements of each of `width` columns of B.
extern "C" __global__ void gemm_e4m3_blocks(const unsigned char *A, const unsigned char *B, float *C, const float *SA, const float *SB, int M, int N, int K, int width) {
  int m = blockIdx.y * blockDim.y + threadIdx.y, n = blockIdx.x * blockDim.x + threadIdx.x, blocks = K / 128;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; k++) sum += SA[m * blocks + k / 128] * SB[n / width * blocks + k / 128] * from_e4m3(A[m * K + k]) * from_e4m3(B[n * K + k]);
  C[m * N + n] = sum;
}

// softmax(scale Q K^T) V for heads of L queries and S keys; a thread for each element of the result.
template <bool CAUSAL>
__device__ void attention(const __half *Q, const __half *K, const __half *V, float *O, int L, int S, int D, float scale) {
  int d = blockIdx.x * blockDim.x + threadIdx.x, query = blockIdx.y * blockDim.y + threadIdx.y, head = blockIdx.z;
  if (d >= D || query >= L) return;
  const __half *q = Q + (head * L + query) * D;
  float sum = 0, out = 0;
  for (int key = 0; key < (CAUSAL ? min(query + 1, S) : S); key++) {
    float score = 0;
    for (int i = 0; i < D; i++) score += value(q[i]) * value(K[(head * S + key) * D + i]);
    float power = expf(scale * score);
    sum += power;
    out += power * value(V[(head * S + key) * D + d]);
  }
  O[(head * L + query) * D + d] = out / sum;
}
extern "C" __global__ void attention(const __half *Q, const __half *K, const __half *V, float *O, int L, int S, int D, float scale) {
  attention<false>(Q, K, V, O, L, S, D, scale);
}
extern "C" __global__ void attention_causal(const __half *Q, const __half *K, const __half *V, float *O, int L, int S, int D, float scale) {
  attention<true>(Q, K, V, O, L, S, D, scale);
}
