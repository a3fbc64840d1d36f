// Attention kernels with a mistake; what is wrong stands above each.
#include <math_constants.h>

// RESCALE_O, RESCALE_SUM, SCALE, SEEN(j): the places where the second FlashAttention goes wrong. d is 4.
#define FLASH2(NAME, RESCALE_O, RESCALE_SUM, SCALE, SEEN, TILES, BARRIER)                                                      \
  extern "C" __global__ void NAME(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,       \
                                  float* __restrict__ O, int n, int m) {                                                       \
    __shared__ float Ks[4][4], Vs[4][4];                                                                                       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                             \
    float q[4], o[4], top = -CUDART_INF_F, sum = 0.0f;                                                                         \
    for (int c = 0; c < 4; c++) {                                                                                              \
      q[c] = i < n ? Q[i * 4 + c] * (SCALE) : 0.0f;                                                                            \
      o[c] = 0.0f;                                                                                                             \
    }                                                                                                                          \
    for (int j0 = 0; j0 < (TILES); j0 += 4) {                                                                                  \
      for (int e = threadIdx.x; e < 16; e += blockDim.x) {                                                                     \
        bool inside = j0 + e / 4 < m;                                                                                          \
        Ks[e / 4][e % 4] = inside ? K[j0 * 4 + e] : 0.0f;                                                                      \
        Vs[e / 4][e % 4] = inside ? V[j0 * 4 + e] : 0.0f;                                                                      \
      }                                                                                                                        \
      __syncthreads();                                                                                                         \
      float s[4], new_top = top;                                                                                               \
      for (int j = 0; j < 4; j++) {                                                                                            \
        float dot = 0.0f;                                                                                                      \
        for (int c = 0; c < 4; c++) dot += q[c] * Ks[j][c];                                                                    \
        s[j] = (SEEN) ? dot : -CUDART_INF_F;                                                                                   \
        new_top = fmaxf(new_top, s[j]);                                                                                        \
      }                                                                                                                        \
      float shrink = expf(top - new_top);                                                                                      \
      if (RESCALE_SUM) sum *= shrink;                                                                                          \
      if (RESCALE_O)                                                                                                           \
        for (int c = 0; c < 4; c++) o[c] *= shrink;                                                                            \
      for (int j = 0; j < 4; j++) {                                                                                            \
        float p = expf(s[j] - new_top);                                                                                        \
        sum += p;                                                                                                              \
        for (int c = 0; c < 4; c++) o[c] += p * Vs[j][c];                                                                      \
      }                                                                                                                        \
      top = new_top;                                                                                                           \
      BARRIER;                                                                                                                 \
    }                                                                                                                          \
    if (i < n)                                                                                                                 \
      for (int c = 0; c < 4; c++) O[i * 4 + c] = o[c] / sum;                                                                   \
  }

// The output is not rescaled when the maximum grows.
FLASH2(no_output_rescale, false, true, 0.5f, j0 + j < m, m, __syncthreads())
// The sum is not rescaled.
FLASH2(no_sum_rescale, true, false, 0.5f, j0 + j < m, m, __syncthreads())
// Neither is rescaled: wrong by a factor for each tile but the last, which does not cancel.
FLASH2(no_rescale, false, false, 0.5f, j0 + j < m, m, __syncthreads())
// 1/d for 1/sqrt(d).
FLASH2(scale_by_d, true, true, 0.25f, j0 + j < m, m, __syncthreads())
// No scale.
FLASH2(no_scale, true, true, 1.0f, j0 + j < m, m, __syncthreads())
// Keys beyond m have score zero, where they should have none.
FLASH2(padded_keys, true, true, 0.5f, true, m, __syncthreads())
// The keys after the last whole tile are left out.
FLASH2(lost_tile, true, true, 0.5f, j0 + j < m, m / 4 * 4, __syncthreads())
// A race: the tiles are filled while others still read them.
FLASH2(no_barrier, true, true, 0.5f, j0 + j < m, m, )
// The causal mask lets key i + 1 through (m is n).
FLASH2(causal_off_by_one, true, true, 0.5f, j0 + j <= i + 1 && j0 + j < m, m, __syncthreads())
// The causal mask counts from the first query of the block.
FLASH2(causal_per_block, true, true, 0.5f, j0 + j <= (int)(blockIdx.x * blockDim.x + blockDim.x - 1) && j0 + j < m, m,
       __syncthreads())

// Keys for values.
extern "C" __global__ void keys_for_values(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                           float* __restrict__ O, int n, int m, int d) {
  extern __shared__ float s[];
  int i = blockIdx.x;
  float scale = rsqrtf((float)d);
  for (int j = threadIdx.x; j < m; j += blockDim.x) {
    float dot = 0.0f;
    for (int c = 0; c < d; c++) dot += Q[i * d + c] * V[j * d + c];
    s[j] = expf(dot * scale);
  }
  __syncthreads();
  float sum = 0.0f;
  for (int j = 0; j < m; j++) sum += s[j];
  for (int c = threadIdx.x; c < d; c += blockDim.x) {
    float out = 0.0f;
    for (int j = 0; j < m; j++) out += s[j] * K[j * d + c];
    O[i * d + c] = out / sum;
  }
}

// Parts of different warps are joined without bringing them to one maximum.
extern "C" __global__ void split_kv_no_rescale(const float* __restrict__ Q, const float* __restrict__ K,
                                               const float* __restrict__ V, float* __restrict__ O, int n, int m, float scale) {
  __shared__ float sums[4], outs[4][32];
  int i = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int share = (m + 3) / 4, from = warp * share, to = min(from + share, m);
  float q = Q[i * 32 + lane] * scale;
  float o = 0.0f, top = -CUDART_INF_F, sum = 0.0f;
  for (int j = from; j < to; j++) {
    float s = q * K[j * 32 + lane];
    for (int w = 16; w > 0; w >>= 1) s += __shfl_xor_sync(0xffffffffu, s, w);
    float new_top = fmaxf(top, s), shrink = expf(top - new_top), p = expf(s - new_top);
    o = o * shrink + p * V[j * 32 + lane];
    sum = sum * shrink + p;
    top = new_top;
  }
  if (lane == 0) sums[warp] = sum;
  outs[warp][lane] = o;
  __syncthreads();
  if (warp == 0) {
    float out = 0.0f, total = 0.0f;
    for (int w = 0; w < 4; w++) {
      total += sums[w];
      out += outs[w][lane];
    }
    O[i * 32 + lane] = out / total;
  }
}

// Parts are normalised before they are joined, and averaged: right only if all sums are the same.
extern "C" __global__ void split_kv_mean(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                         float* __restrict__ O, int n, int m, float scale) {
  __shared__ float outs[4][32];
  int i = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int share = (m + 3) / 4, from = warp * share, to = min(from + share, m);
  float q = Q[i * 32 + lane] * scale;
  float o = 0.0f, sum = 0.0f;
  for (int j = from; j < to; j++) {
    float s = q * K[j * 32 + lane];
    for (int w = 16; w > 0; w >>= 1) s += __shfl_xor_sync(0xffffffffu, s, w);
    float p = expf(s);
    o += p * V[j * 32 + lane];
    sum += p;
  }
  outs[warp][lane] = o / sum;
  __syncthreads();
  if (warp == 0) O[i * 32 + lane] = 0.25f * (outs[0][lane] + outs[1][lane] + outs[2][lane] + outs[3][lane]);
}

// Values of head 0 for all heads.
extern "C" __global__ void heads_values(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                        float* __restrict__ O, int n, int d) {
  extern __shared__ float s[];
  int i = blockIdx.x, at = blockIdx.y * n * d;
  float scale = rsqrtf((float)d);
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    float dot = 0.0f;
    for (int c = 0; c < d; c++) dot += Q[at + i * d + c] * K[at + j * d + c];
    s[j] = expf(dot * scale);
  }
  __syncthreads();
  float sum = 0.0f;
  for (int j = 0; j < n; j++) sum += s[j];
  for (int c = threadIdx.x; c < d; c += blockDim.x) {
    float out = 0.0f;
    for (int j = 0; j < n; j++) out += s[j] * V[j * d + c];
    O[at + i * d + c] = out / sum;
  }
}
