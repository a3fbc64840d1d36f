// Numbers of one bit and of two: products of matrices of bits by words and on tensor cores, and weights of two bits in half precision.
#include <cuda_fp16.h>
#include <cstdint>

// C[i,j] is how many bits of row i of A and of row j of B are both 1, or differ; 32 bits to a word.
template <bool DIFFER>
__device__ void words(const uint32_t* A, const uint32_t* B, int* C, int M, int N, int K) {
  int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j >= N) return;
  int count = 0;
  for (int w = 0; w < K / 32; w++) {
    uint32_t a = A[i * (K / 32) + w], b = B[j * (K / 32) + w];
    count += __popc(DIFFER ? a ^ b : a & b);
  }
  C[i * N + j] = count;
}
extern "C" __global__ void both(const uint32_t* A, const uint32_t* B, int* C, int M, int N, int K) { words<false>(A, B, C, M, N, K); }
extern "C" __global__ void differ(const uint32_t* A, const uint32_t* B, int* C, int M, int N, int K) { words<true>(A, B, C, M, N, K); }

// The same for 16 rows and 8 columns by a warp, 256 bits at a time.
template <bool DIFFER, int ROW>
__device__ void tensor(const uint32_t* A, const uint32_t* B, int* C, int N, int K) {
  int lane = threadIdx.x, group = lane / 4, at = lane % 4, words = K / 32;
  int c[4] = {};
  for (int w = 0; w < words; w += 8) {
    const uint32_t *low = A + group * words + w, *high = low + ROW * words, *b = B + group * words + w;
    if (DIFFER)
      asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
          : "r"(low[at]), "r"(high[at]), "r"(low[at + 4]), "r"(high[at + 4]), "r"(b[at]), "r"(b[at + 4]));
    else
      asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
          : "r"(low[at]), "r"(high[at]), "r"(low[at + 4]), "r"(high[at + 4]), "r"(b[at]), "r"(b[at + 4]));
  }
  for (int i = 0; i < 4; i++) C[(group + 8 * (i / 2)) * N + 2 * at + i % 2] = c[i];
}
extern "C" __global__ void both_tensor(const uint32_t* A, const uint32_t* B, int* C, int M, int N, int K) { tensor<false, 8>(A, B, C, N, K); }
extern "C" __global__ void differ_tensor(const uint32_t* A, const uint32_t* B, int* C, int M, int N, int K) { tensor<true, 8>(A, B, C, N, K); }
extern "C" __global__ void both_wrong_row(const uint32_t* A, const uint32_t* B, int* C, int M, int N, int K) { tensor<false, 7>(A, B, C, N, K); }

// A network of signs: bits are -1 and 1, one after the other, or by what differs.
extern "C" __global__ void signs(const uint32_t* A, const uint32_t* B, int* y, int K) {
  int sum = 0;
  for (int k = 0; k < K; k++) {
    int a = 2 * (int)(A[k / 32] >> (k % 32) & 1) - 1, b = 2 * (int)(B[k / 32] >> (k % 32) & 1) - 1;
    sum += a * b;
  }
  y[0] = sum;
}
extern "C" __global__ void signs_fast(const uint32_t* A, const uint32_t* B, int* y, int K) {
  int differ = 0;
  for (int w = 0; w < K / 32; w++) differ += __popc(A[w] ^ B[w]);
  y[0] = K - 2 * differ;
}
extern "C" __global__ void signs_alike(const uint32_t* A, const uint32_t* B, int* y, int K) {
  int alike = 0;
  for (int w = 0; w < K / 32; w++) alike += __popc(~(A[w] ^ B[w]));
  y[0] = 2 * alike - K;
}
extern "C" __global__ void signs_once(const uint32_t* A, const uint32_t* B, int* y, int K) {
  int differ = 0;
  for (int w = 0; w < K / 32; w++) differ += __popc(A[w] ^ B[w]);
  y[0] = K - differ;
}

// Weights of two bits, 16 to a word, q - 2.
extern "C" __global__ void twos(const uint32_t* W, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (float)((int)(W[i / 16] >> (2 * (i % 16)) & 3) - 2);
}
// Two at once in the last places of 1024: weights k and k + 8 of a word.
template <uint32_t MASK>
__device__ void twos_magic(const uint32_t* W, float* y, int n) {
  int word = blockIdx.x * blockDim.x + threadIdx.x;
  if (16 * word >= n) return;
  uint32_t w = W[word];
  for (int k = 0; k < 8; k++, w >>= 2) {
    uint32_t r = (w & MASK) | 0x64006400;
    __half2 q = __hsub2(*(__half2*)&r, __half2half2(__ushort_as_half(0x6402)));
    y[16 * word + k] = __low2float(q);
    y[16 * word + k + 8] = __high2float(q);
  }
}
extern "C" __global__ void twos_fast(const uint32_t* W, float* y, int n) { twos_magic<0x00030003>(W, y, n); }
extern "C" __global__ void twos_too_many(const uint32_t* W, float* y, int n) { twos_magic<0x00070003>(W, y, n); }
