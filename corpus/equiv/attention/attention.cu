// Attention: O = softmax(scale Q transpose(K)) V for Q (n by d), K and V (m by d), row-major; scale = 1/sqrt(d).
#include <math_constants.h>

// A thread for each query, all queries if there is one thread; scores in dynamic shared memory, m for each thread.
extern "C" __global__ void serial(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                  float* __restrict__ O, int n, int m, int d) {
  extern __shared__ float scores[];
  float* s = scores + threadIdx.x * m;
  float scale = 1.0f / sqrtf((float)d);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float sum = 0.0f;
    for (int j = 0; j < m; j++) {
      float dot = 0.0f;
      for (int c = 0; c < d; c++) dot += Q[i * d + c] * K[j * d + c];
      s[j] = expf(scale * dot);
      sum += s[j];
    }
    for (int c = 0; c < d; c++) {
      float out = 0.0f;
      for (int j = 0; j < m; j++) out += s[j] * V[j * d + c];
      O[i * d + c] = out / sum;
    }
  }
}

// A block for each query: scores, their maximum, weights, then a thread for each column of the output.
extern "C" __global__ void naive(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                 float* __restrict__ O, int n, int m, int d) {
  extern __shared__ float s[];
  int i = blockIdx.x;
  float scale = rsqrtf((float)d);
  for (int j = threadIdx.x; j < m; j += blockDim.x) {
    float dot = 0.0f;
    for (int c = 0; c < d; c++) dot += Q[i * d + c] * K[j * d + c];
    s[j] = dot * scale;
  }
  __syncthreads();
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int j = 0; j < m; j++) top = fmaxf(top, s[j]);
  for (int j = 0; j < m; j++) sum += expf(s[j] - top);
  for (int c = threadIdx.x; c < d; c += blockDim.x) {
    float out = 0.0f;
    for (int j = 0; j < m; j++) out += expf(s[j] - top) / sum * V[j * d + c];
    O[i * d + c] = out;
  }
}

// After the first FlashAttention: tiles of four keys in shared memory; the output is normalised after each tile. A block has
// one thread for each of up to 16 queries; d is 4.
extern "C" __global__ void flash1(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                  float* __restrict__ O, int n, int m) {
  __shared__ float Ks[4][4], Vs[4][4];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float q[4], o[4], top = -CUDART_INF_F, sum = 0.0f;
  for (int c = 0; c < 4; c++) {
    q[c] = i < n ? Q[i * 4 + c] : 0.0f;
    o[c] = 0.0f;
  }
  for (int j0 = 0; j0 < m; j0 += 4) {
    for (int e = threadIdx.x; e < 16; e += blockDim.x) {
      bool inside = j0 + e / 4 < m;
      Ks[e / 4][e % 4] = inside ? K[j0 * 4 + e] : 0.0f;
      Vs[e / 4][e % 4] = inside ? V[j0 * 4 + e] : 0.0f;
    }
    __syncthreads();
    float s[4], tile_top = -CUDART_INF_F, tile_sum = 0.0f;
    for (int j = 0; j < 4; j++) {
      float dot = 0.0f;
      for (int c = 0; c < 4; c++) dot += q[c] * Ks[j][c];
      s[j] = j0 + j < m ? dot * 0.5f : -CUDART_INF_F;
      tile_top = fmaxf(tile_top, s[j]);
    }
    for (int j = 0; j < 4; j++) {
      s[j] = expf(s[j] - tile_top);
      tile_sum += s[j];
    }
    float new_top = fmaxf(top, tile_top);
    float old_part = expf(top - new_top) * sum, tile_part = expf(tile_top - new_top);
    float new_sum = old_part + tile_part * tile_sum;
    for (int c = 0; c < 4; c++) {
      float pv = 0.0f;
      for (int j = 0; j < 4; j++) pv += s[j] * Vs[j][c];
      o[c] = (old_part * o[c] + tile_part * pv) / new_sum;
    }
    top = new_top;
    sum = new_sum;
    __syncthreads();
  }
  if (i < n)
    for (int c = 0; c < 4; c++) O[i * 4 + c] = o[c];
}

// After the second: the output is rescaled when the maximum grows and divided by the sum at the end.
extern "C" __global__ void flash2(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                  float* __restrict__ O, int n, int m) {
  __shared__ float Ks[4][4], Vs[4][4];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float q[4], o[4], top = -CUDART_INF_F, sum = 0.0f;
  for (int c = 0; c < 4; c++) {
    q[c] = i < n ? Q[i * 4 + c] * 0.5f : 0.0f;
    o[c] = 0.0f;
  }
  for (int j0 = 0; j0 < m; j0 += 4) {
    for (int e = threadIdx.x; e < 16; e += blockDim.x) {
      bool inside = j0 + e / 4 < m;
      Ks[e / 4][e % 4] = inside ? K[j0 * 4 + e] : 0.0f;
      Vs[e / 4][e % 4] = inside ? V[j0 * 4 + e] : 0.0f;
    }
    __syncthreads();
    float s[4], new_top = top;
    for (int j = 0; j < 4; j++) {
      float dot = 0.0f;
      for (int c = 0; c < 4; c++) dot += q[c] * Ks[j][c];
      s[j] = j0 + j < m ? dot : -CUDART_INF_F;
      new_top = fmaxf(new_top, s[j]);
    }
    float shrink = expf(top - new_top);
    sum *= shrink;
    for (int c = 0; c < 4; c++) o[c] *= shrink;
    for (int j = 0; j < 4; j++) {
      float p = expf(s[j] - new_top);
      sum += p;
      for (int c = 0; c < 4; c++) o[c] += p * Vs[j][c];
    }
    top = new_top;
    __syncthreads();
  }
  float inverse = 1.0f / sum;
  if (i < n)
    for (int c = 0; c < 4; c++) O[i * 4 + c] = o[c] * inverse;
}

// The second form for d = 64: 16 queries for 128 threads, eight threads for a query, tiles of 32 keys, scores in shared memory.
extern "C" __global__ void flash2_wide(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                       float* __restrict__ O, int n, int m) {
  __shared__ float Qs[16][65], Ks[32][65], Vs[32][65], P[16][33];
  int t = threadIdx.x, row = t / 8, part = t % 8;
  int i0 = blockIdx.x * 16;
  for (int e = t; e < 16 * 64; e += 128) Qs[e / 64][e % 64] = i0 + e / 64 < n ? Q[i0 * 64 + e] * 0.125f : 0.0f;
  float o[8] = {0.0f}, top = -CUDART_INF_F, sum = 0.0f;
  for (int j0 = 0; j0 < m; j0 += 32) {
    __syncthreads();
    for (int e = t; e < 32 * 64; e += 128) {
      Ks[e / 64][e % 64] = K[j0 * 64 + e];
      Vs[e / 64][e % 64] = V[j0 * 64 + e];
    }
    __syncthreads();
    float s[4], high = -CUDART_INF_F;
    for (int k = 0; k < 4; k++) {
      float dot = 0.0f;
      for (int c = 0; c < 64; c++) dot += Qs[row][c] * Ks[part + 8 * k][c];
      s[k] = dot;
      high = fmaxf(high, dot);
    }
    for (int w = 4; w > 0; w >>= 1) high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, w));
    float new_top = fmaxf(top, high), shrink = expf(top - new_top), add = 0.0f;
    for (int k = 0; k < 4; k++) {
      float p = expf(s[k] - new_top);
      P[row][part + 8 * k] = p;
      add += p;
    }
    for (int w = 4; w > 0; w >>= 1) add += __shfl_xor_sync(0xffffffffu, add, w);
    sum = sum * shrink + add;
    top = new_top;
    __syncwarp();
    for (int k = 0; k < 8; k++) {
      float out = o[k] * shrink;
      for (int j = 0; j < 32; j++) out += P[row][j] * Vs[j][part + 8 * k];
      o[k] = out;
    }
    __syncwarp();
  }
  if (i0 + row < n)
    for (int k = 0; k < 8; k++) O[(i0 + row) * 64 + part + 8 * k] = o[k] / sum;
}

// A warp for each query, a lane for each of 32 columns; inner products by shuffles, online softmax over keys.
extern "C" __global__ void warp_query(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                      float* __restrict__ O, int n, int m, float scale) {
  int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= n) return;
  float q = Q[i * 32 + lane] * scale;
  float o = 0.0f, top = -CUDART_INF_F, sum = 0.0f;
  for (int j = 0; j < m; j++) {
    float s = q * K[j * 32 + lane];
    for (int w = 16; w > 0; w >>= 1) s += __shfl_xor_sync(0xffffffffu, s, w);
    float new_top = fmaxf(top, s), shrink = expf(top - new_top), p = expf(s - new_top);
    o = o * shrink + p * V[j * 32 + lane];
    sum = sum * shrink + p;
    top = new_top;
  }
  O[i * 32 + lane] = o / sum;
}

// A block for each query, its four warps share the keys; their parts (maximum, sum, output) are joined at the end. d is 32.
extern "C" __global__ void split_kv(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                    float* __restrict__ O, int n, int m, float scale) {
  __shared__ float tops[4], sums[4], outs[4][32];
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
  if (lane == 0) {
    tops[warp] = top;
    sums[warp] = sum;
  }
  outs[warp][lane] = o;
  __syncthreads();
  if (warp == 0) {
    float all = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
    float out = 0.0f, total = 0.0f;
    for (int w = 0; w < 4; w++) {
      float weight = expf(tops[w] - all);
      total += weight * sums[w];
      out += weight * outs[w][lane];
    }
    O[i * 32 + lane] = out / total;
  }
}

// The naive form with the scale given.
extern "C" __global__ void naive_scale(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                       float* __restrict__ O, int n, int m, int d, float scale) {
  extern __shared__ float s[];
  int i = blockIdx.x;
  for (int j = threadIdx.x; j < m; j += blockDim.x) {
    float dot = 0.0f;
    for (int c = 0; c < d; c++) dot += Q[i * d + c] * K[j * d + c];
    s[j] = expf(dot * scale);
  }
  __syncthreads();
  float sum = 0.0f;
  for (int j = 0; j < m; j++) sum += s[j];
  for (int c = threadIdx.x; c < d; c += blockDim.x) {
    float out = 0.0f;
    for (int j = 0; j < m; j++) out += s[j] * V[j * d + c];
    O[i * d + c] = out / sum;
  }
}

// Causal: query i sees the keys up to i.
extern "C" __global__ void causal(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                  float* __restrict__ O, int n, int d) {
  extern __shared__ float s[];
  int i = blockIdx.x;
  float scale = 1.0f / sqrtf((float)d);
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    float dot = 0.0f;
    for (int c = 0; c < d; c++) dot += Q[i * d + c] * K[j * d + c];
    s[j] = j <= i ? dot * scale : -CUDART_INF_F;
  }
  __syncthreads();
  float top = -CUDART_INF_F, sum = 0.0f;
  for (int j = 0; j < n; j++) top = fmaxf(top, s[j]);
  for (int j = 0; j < n; j++) sum += expf(s[j] - top);
  for (int c = threadIdx.x; c < d; c += blockDim.x) {
    float out = 0.0f;
    for (int j = 0; j < n; j++) out += expf(s[j] - top) * V[j * d + c];
    O[i * d + c] = out / sum;
  }
}

// Causal, the second FlashAttention: tiles above the diagonal are left out, those on it are masked. d is 4.
extern "C" __global__ void causal_flash2(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                         float* __restrict__ O, int n) {
  __shared__ float Ks[4][4], Vs[4][4];
  int i0 = blockIdx.x * blockDim.x, i = i0 + threadIdx.x;
  float q[4], o[4], top = -CUDART_INF_F, sum = 0.0f;
  for (int c = 0; c < 4; c++) {
    q[c] = i < n ? Q[i * 4 + c] * 0.5f : 0.0f;
    o[c] = 0.0f;
  }
  int end = min(n, i0 + (int)blockDim.x);
  for (int j0 = 0; j0 < end; j0 += 4) {
    for (int e = threadIdx.x; e < 16; e += blockDim.x) {
      bool inside = j0 + e / 4 < n;
      Ks[e / 4][e % 4] = inside ? K[j0 * 4 + e] : 0.0f;
      Vs[e / 4][e % 4] = inside ? V[j0 * 4 + e] : 0.0f;
    }
    __syncthreads();
    float s[4], new_top = top;
    for (int j = 0; j < 4; j++) {
      float dot = 0.0f;
      for (int c = 0; c < 4; c++) dot += q[c] * Ks[j][c];
      s[j] = j0 + j <= i && j0 + j < n ? dot : -CUDART_INF_F;
      new_top = fmaxf(new_top, s[j]);
    }
    float shrink = expf(top - new_top);
    sum *= shrink;
    for (int c = 0; c < 4; c++) o[c] *= shrink;
    for (int j = 0; j < 4; j++) {
      float p = expf(s[j] - new_top);
      sum += p;
      for (int c = 0; c < 4; c++) o[c] += p * Vs[j][c];
    }
    top = new_top;
    __syncthreads();
  }
  if (i < n)
    for (int c = 0; c < 4; c++) O[i * 4 + c] = o[c] / sum;
}

// Several heads, [heads, n, d]: blockIdx.y is the head.
extern "C" __global__ void heads_naive(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
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
    for (int j = 0; j < n; j++) out += s[j] * V[at + j * d + c];
    O[at + i * d + c] = out / sum;
  }
}

// The same with one thread for each query of each head, online.
extern "C" __global__ void heads_online(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                        float* __restrict__ O, int n, int heads) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * heads) return;
  const float* k = K + i / n * n * 8;
  const float* v = V + i / n * n * 8;
  float o[8] = {0.0f}, top = -CUDART_INF_F, sum = 0.0f;
  float scale = rsqrtf(8.0f);
  for (int j = 0; j < n; j++) {
    float s = 0.0f;
    for (int c = 0; c < 8; c++) s += Q[i * 8 + c] * k[j * 8 + c];
    s *= scale;
    float new_top = fmaxf(top, s), shrink = expf(top - new_top), p = expf(s - new_top);
    for (int c = 0; c < 8; c++) o[c] = o[c] * shrink + p * v[j * 8 + c];
    sum = sum * shrink + p;
    top = new_top;
  }
  for (int c = 0; c < 8; c++) O[i * 8 + c] = o[c] / sum;
}
