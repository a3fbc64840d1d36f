// Weights of four bits, eight to a word, and what they are in half precision: w = scale * (q - 8), one scale for each group of 32 rows.
#include <cuda_fp16.h>
#include <cstdint>

// One weight after the other: column n of W is K/8 words, the weight of row k is nibble k % 8 of word k / 8.
extern "C" __global__ void plain(const uint32_t* W, const __half* S, float* y, int K, int N) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  for (int k = 0; k < K; k++) {
    int q = (W[n * (K / 8) + k / 8] >> (4 * (k % 8))) & 15;
    y[k * N + n] = (float)(q - 8) * __half2float(S[k / 32 * N + n]);
  }
}

// (a & MASK) | 0x64006400
template <uint32_t MASK>
__device__ __forceinline__ __half2 magic(uint32_t a) {
  uint32_t r;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(r) : "r"(a), "n"(MASK), "n"(0x64006400));
  return *(__half2*)&r;
}
__device__ __forceinline__ __half2 bits(uint32_t a) { return *(__half2*)&a; }

// Two weights at once: the nibble in the last places of 1024, or 16 times it, and both taken back.
template <int ORIGIN>
__device__ void unpack(uint32_t w, __half2 (&out)[4]) {
  const __half2 low = bits(ORIGIN == 8 ? 0x64086408u : 0x64076407u);  // 1024 + origin
  const __half2 scale = bits(0x2c002c00u), high = bits(0xd480d480u);  // 1/16 and -(64 + 8)
  out[0] = __hsub2(magic<0x000f000f>(w), low);
  out[1] = __hfma2(magic<0x00f000f0>(w), scale, high);
  out[2] = __hsub2(magic<0x000f000f>(w >> 8), low);
  out[3] = __hfma2(magic<0x00f000f0>(w >> 8), scale, high);
}

// Nibbles 0 and 4, 1 and 5, 2 and 6, 3 and 7 of a word come out together.
template <int ORIGIN>
__device__ void fast_of(const uint32_t* W, const __half* S, float* y, int K, int N) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  for (int k = 0; k < K; k += 8) {
    __half2 q[4], s = __half2half2(S[k / 32 * N + n]);
    unpack<ORIGIN>(W[n * (K / 8) + k / 8], q);
    for (int i = 0; i < 4; i++) {
      float2 w = __half22float2(__hmul2(q[i], s));
      y[(k + i) * N + n] = w.x;
      y[(k + i + 4) * N + n] = w.y;
    }
  }
}
extern "C" __global__ void fast(const uint32_t* W, const __half* S, float* y, int K, int N) { fast_of<8>(W, S, y, K, N); }
extern "C" __global__ void wrong_origin(const uint32_t* W, const __half* S, float* y, int K, int N) { fast_of<7>(W, S, y, K, N); }

// The two weights of a pair are next to each other in the word: not how this layout has them.
extern "C" __global__ void wrong_order(const uint32_t* W, const __half* S, float* y, int K, int N) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  for (int k = 0; k < K; k += 8) {
    __half2 q[4], s = __half2half2(S[k / 32 * N + n]);
    unpack<8>(W[n * (K / 8) + k / 8], q);
    for (int i = 0; i < 4; i++) {
      float2 w = __half22float2(__hmul2(q[i], s));
      y[(k + 2 * i) * N + n] = w.x;
      y[(k + 2 * i + 1) * N + n] = w.y;
    }
  }
}

// Bytes of two weights with a sign, against the same in one step each.
extern "C" __global__ void signed_plain(const uint8_t* W, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int q = (W[i / 2] >> (4 * (i % 2))) & 15;
  y[i] = (float)(q >= 8 ? q - 16 : q);
}
extern "C" __global__ void signed_fields(const uint32_t* W, float* y, int n) {
  int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  uint32_t w = W[i / 8];
  for (int k = 0; k < 8; k++) {
    int q;
    asm("bfe.s32 %0, %1, %2, 4;" : "=r"(q) : "r"(w), "r"(4 * k));
    y[i + k] = (float)q;
  }
}
extern "C" __global__ void signed_without(const uint32_t* W, float* y, int n) {
  int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  uint32_t w = W[i / 8];
  for (int k = 0; k < 8; k++) y[i + k] = (float)((w >> (4 * k)) & 15);
}

// y = x W for rows of x: the product of a matrix with dequantised weights, one output after the other.
extern "C" __global__ void gemm_plain(const __half* x, const uint32_t* W, const __half* S, float* y, int M, int N, int K) {
  int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
  if (n >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) {
    int q = (W[n * (K / 8) + k / 8] >> (4 * (k % 8))) & 15;
    sum += __half2float(x[m * K + k]) * (float)(q - 8) * __half2float(S[k / 32 * N + n]);
  }
  y[m * N + n] = sum;
}
__device__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// A warp for 16 rows and 8 columns on tensor cores; sums of 32 rows are scaled. The order of k inside a product is free as long as both factors
// have the same: a lane has nibbles i and i + 4 of a word, so its part of x is taken from rows i and i + 4 of the eight, too.
template <int ORDER>
__device__ void tensor(const __half* x, const uint32_t* W, const __half* S, float* y, int M, int N, int K) {
  int lane = threadIdx.x, row = lane / 4, quad = lane % 4, column = blockIdx.x * 8 + 2 * quad;
  float total[4] = {};
  for (int group = 0; group < K / 32; group++) {
    float c[4] = {};
    for (int k = 32 * group; k < 32 * group + 32; k += 16) {
      uint32_t a[4], b[2];
      for (int half = 0; half < 2; half++) {
        __half2 q[4];
        unpack<8>(W[(blockIdx.x * 8 + row) * (K / 8) + k / 8 + half], q);
        b[half] = *(uint32_t*)&q[quad];
        for (int upper = 0; upper < 2; upper++) {
          const __half* from = x + (row + 8 * upper) * K + k + 8 * half;
          __half2 pair = ORDER ? __halves2half2(from[2 * quad], from[2 * quad + 1]) : __halves2half2(from[quad], from[quad + 4]);
          a[2 * half + upper] = *(uint32_t*)&pair;
        }
      }
      multiply(c, a, b[0], b[1]);
    }
    for (int i = 0; i < 4; i++) total[i] += c[i] * __half2float(S[group * N + column + i % 2]);
  }
  for (int i = 0; i < 4; i++) y[(row + 8 * (i / 2)) * N + column + i % 2] = total[i];
}
extern "C" __global__ void gemm_tensor(const __half* x, const uint32_t* W, const __half* S, float* y, int M, int N, int K) {
  tensor<0>(x, W, S, y, M, N, K);
}
extern "C" __global__ void gemm_other_order(const __half* x, const uint32_t* W, const __half* S, float* y, int M, int N, int K) {
  tensor<1>(x, W, S, y, M, N, K);
}

// Products of integers of four bits: A is M by K, B is N by K, eight to a word.
template <bool SIGNED>
__device__ int nibble(const uint32_t* from, int k) {
  int q = (from[k / 8] >> (4 * (k % 8))) & 15;
  return SIGNED && q >= 8 ? q - 16 : q;
}
template <bool SIGNED>
__device__ void products(const uint32_t* A, const uint32_t* B, int* C, int M, int N, int K) {
  int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y, sum = 0;
  if (n >= N) return;
  for (int k = 0; k < K; k++) sum += nibble<SIGNED>(A + m * (K / 8), k) * nibble<SIGNED>(B + n * (K / 8), k);
  C[m * N + n] = sum;
}
extern "C" __global__ void products_signed(const uint32_t* A, const uint32_t* B, int* C, int M, int N, int K) {
  products<true>(A, B, C, M, N, K);
}
extern "C" __global__ void products_unsigned(const uint32_t* A, const uint32_t* B, int* C, int M, int N, int K) {
  products<false>(A, B, C, M, N, K);
}
// A warp for 16 rows and 8 columns, 64 of k at a time.
#define PRODUCTS(NAME, TYPE)                                                                                                              \
  extern "C" __global__ void NAME(const uint32_t* A, const uint32_t* B, int* C, int M, int N, int K) {                                    \
    int lane = threadIdx.x, row = lane / 4, quad = lane % 4, c[4] = {};                                                                   \
    const uint32_t *a = A + row * (K / 8) + quad, *b = B + (blockIdx.x * 8 + row) * (K / 8) + quad;                                       \
    for (int k = 0; k < K / 8; k += 8)                                                                                                    \
      asm volatile("mma.sync.aligned.m16n8k64.row.col.s32." TYPE "." TYPE ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"    \
                   : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                                                       \
                   : "r"(a[k]), "r"(a[8 * (K / 8) + k]), "r"(a[k + 4]), "r"(a[8 * (K / 8) + k + 4]), "r"(b[k]), "r"(b[k + 4]));           \
    for (int i = 0; i < 4; i++) C[(row + 8 * (i / 2)) * N + blockIdx.x * 8 + 2 * quad + i % 2] = c[i];                                    \
  }
PRODUCTS(products_s4, "s4")
PRODUCTS(products_u4, "u4")
