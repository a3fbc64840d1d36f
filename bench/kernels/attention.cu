// VOLTA's Table 3 at its size: 16 queries, keys and values of 64 columns, halves in, singles out. One thread against
// FlashAttention on tensor cores with 128 threads, 64 keys at a time.
#include <cuda_fp16.h>
#include <mma.h>

// softmax(scale Q K^T) V by one thread; scores go through shared memory.
extern "C" __global__ void serial(const __half* Q, const __half* K, const __half* V, float* O, int S, float scale) {
  extern __shared__ float weights[];
  for (int query = 0; query < 16; query++) {
    float top = -INFINITY, sum = 0.0f;
    for (int key = 0; key < S; key++) {
      float score = 0.0f;
      for (int d = 0; d < 64; d++) score += __half2float(Q[query * 64 + d]) * __half2float(K[key * 64 + d]);
      weights[key] = score * scale;
      top = fmaxf(top, weights[key]);
    }
    for (int key = 0; key < S; key++) sum += weights[key] = __expf(weights[key] - top);
    for (int d = 0; d < 64; d++) {
      float out = 0.0f;
      for (int key = 0; key < S; key++) out += weights[key] * __half2float(V[key * 64 + d]);
      O[query * 64 + d] = out / sum;
    }
  }
}

using namespace nvcuda::wmma;
typedef fragment<matrix_a, 16, 16, 16, __half, row_major> Left;
typedef fragment<accumulator, 16, 16, 16, float> Sums;

// Each warp multiplies 16 of the 64 keys of a tile, all see all scores through shared memory, and each warp then owns 16
// columns of the output. NORMALISED as in the first FlashAttention: the output is divided by the sum at every tile and kept in shared memory.
// Otherwise as in the second: one division at the end.
template <bool NORMALISED>
__device__ void flash(const __half* Q, const __half* K, const __half* V, float* O, int S, float scale) {
  __shared__ __align__(32) __half queries[16 * 72], keys[64 * 72], values[64 * 72], weights[16 * 72];
  __shared__ __align__(32) float scores[16 * 68], outs[16 * 68];
  __shared__ float tops[16], sums[16], factors[16];
  int t = threadIdx.x, warp = t / 32;
  for (int i = t; i < 16 * 64; i += 128) {
    queries[i / 64 * 72 + i % 64] = Q[i];
    outs[i / 64 * 68 + i % 64] = 0.0f;
  }
  if (t < 16) tops[t] = -INFINITY, sums[t] = 0.0f;
  for (int first = 0; first < S; first += 64) {
    for (int i = t; i < 64 * 64; i += 128) {
      keys[i / 64 * 72 + i % 64] = K[first * 64 + i];
      values[i / 64 * 72 + i % 64] = V[first * 64 + i];
    }
    __syncthreads();
    Sums product;
    fill_fragment(product, 0.0f);
    for (int d = 0; d < 64; d += 16) {
      Left q;
      fragment<matrix_b, 16, 16, 16, __half, col_major> k;
      load_matrix_sync(q, queries + d, 72);
      load_matrix_sync(k, keys + warp * 16 * 72 + d, 72);
      mma_sync(product, q, k, product);
    }
    store_matrix_sync(scores + warp * 16, product, 68, mem_row_major);
    __syncthreads();
    if (t < 16) {
      float top = tops[t], sum = 0.0f;
      for (int j = 0; j < 64; j++) top = fmaxf(top, scores[t * 68 + j] * scale);
      for (int j = 0; j < 64; j++) sum += scores[t * 68 + j] = __expf(scores[t * 68 + j] * scale - top);
      float before = __expf(tops[t] - top), total = sums[t] * before + sum;
      factors[t] = NORMALISED ? sums[t] * before / total : before;
      for (int j = 0; j < 64; j++) weights[t * 72 + j] = __float2half(NORMALISED ? scores[t * 68 + j] / total : scores[t * 68 + j]);
      tops[t] = top;
      sums[t] = total;
    }
    __syncthreads();
    for (int i = t; i < 16 * 64; i += 128) outs[i / 64 * 68 + i % 64] *= factors[i / 64];
    __syncthreads();
    Sums out;
    load_matrix_sync(out, outs + warp * 16, 68, mem_row_major);
    for (int j = 0; j < 64; j += 16) {
      Left p;
      fragment<matrix_b, 16, 16, 16, __half, row_major> v;
      load_matrix_sync(p, weights + j, 72);
      load_matrix_sync(v, values + j * 72 + warp * 16, 72);
      mma_sync(out, p, v, out);
    }
    store_matrix_sync(outs + warp * 16, out, 68, mem_row_major);
    __syncthreads();
  }
  for (int i = t; i < 16 * 64; i += 128) O[i] = outs[i / 64 * 68 + i % 64] / (NORMALISED ? 1.0f : sums[i / 64]);
}
extern "C" __global__ void fa1(const __half* Q, const __half* K, const __half* V, float* O, int S, float scale) {
  flash<true>(Q, K, V, O, S, scale);
}
extern "C" __global__ void fa2(const __half* Q, const __half* K, const __half* V, float* O, int S, float scale) {
  flash<false>(Q, K, V, O, S, scale);
}
