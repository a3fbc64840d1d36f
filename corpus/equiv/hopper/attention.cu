// softmax(scale Q K^T) V after FlashAttention-3: a producer warp, and two consumer groups with 64 queries each. A group issues Q K^T of the next keys and
// P V of these, and takes exponentials while the products run; P stays in registers. K and V have stages of their own.
#include "hopper.cuh"
#include <cuda_fp16.h>

#define INFINITY __int_as_float(0x7f800000)

enum Mistake {
  NONE, NO_RESCALE, SUM_NOT_RESCALED, MASK_OFF_BY_ONE, MASK_PER_GROUP, EARLY_KEYS, EARLY_LATER_KEYS, EARLY_VALUES, NOT_TRANSPOSED, VALUES_PARITY, KEYS_EXPECT, ONE_MISSING, NO_EMPTY_WAIT,
  LANES, SKIPPED_BLOCK, NO_QUERY_WAIT, RAW_MAXIMUM
};
enum { TURN = 1 };

DEVICE float power_of_2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
DEVICE u32 pack(float low, float high) {
  __half2 both = __floats2half2_rn(low, high);
  return *(u32 *)&both;
}

// Maxima and sums of a thread's two rows; `scale` is in powers of two.
template <int KEYS, Mistake WRONG> struct Softmax {
  float top[2], sum[2], scale;

  // Maxima of scores that are not scaled are for positive scales alone.
  static constexpr bool RAW = WRONG == RAW_MAXIMUM;

  DEVICE Softmax(float scale) : top{-INFINITY, -INFINITY}, sum{0, 0}, scale(scale) {}
  DEVICE void scaled(float (&s)[KEYS / 2]) const {
    if (RAW) return;
    for (int i = 0; i < KEYS / 2; i++) s[i] *= scale;
  }
  // Makes exponentials of scores, and returns by what earlier results are to be multiplied.
  DEVICE void update(float (&s)[KEYS / 2], float (&before)[2]) {
    for (int half = 0; half < 2; half++) {
      float most = top[half];
      for (int i = 0; i < KEYS / 2; i++)
        if (i / 2 % 2 == half) most = fmaxf(most, s[i]);
      most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, WRONG == LANES ? 4 : 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
      before[half] = power_of_2(RAW ? (top[half] - most) * scale : top[half] - most);
      top[half] = most;
      float added = 0;
      for (int i = 0; i < KEYS / 2; i++)
        if (i / 2 % 2 == half) {
          s[i] = power_of_2(RAW ? s[i] * scale - most * scale : s[i] - most);
          added += s[i];
        }
      sum[half] = WRONG == SUM_NOT_RESCALED ? sum[half] + added : sum[half] * before[half] + added;
    }
  }
  DEVICE float total(int half) const {
    float all = sum[half] + __shfl_xor_sync(0xffffffff, sum[half], 1);
    return all + __shfl_xor_sync(0xffffffff, all, 2);
  }
};

template <int D, int KEYS, int STAGES, bool CAUSAL, bool TURNS, Mistake WRONG> struct Attention {
  static constexpr int ROW = D * 2, Q_BYTES = 128 * ROW, BLOCK = KEYS * ROW;
  const TensorMap *q, *k, *v;
  u32 queries, keys, values, query_full, key_full, key_empty, value_full, value_empty;

  DEVICE Attention(const TensorMap *q, const TensorMap *k, const TensorMap *v) : q(q), k(k), v(v) {
    extern __shared__ __align__(1024) unsigned char memory[];
    queries = shared_address(memory);
    keys = queries + Q_BYTES;
    values = keys + STAGES * BLOCK;
    query_full = values + STAGES * BLOCK;
    key_full = query_full + 8;
    key_empty = key_full + STAGES * 8;
    value_full = key_empty + STAGES * 8;
    value_empty = value_full + STAGES * 8;
    if (threadIdx.x == 0) {
      init(query_full, 1);
      for (int s = 0; s < STAGES; s++) {
        init(key_full + 8 * s, 1);
        init(value_full + 8 * s, 1);
        init(key_empty + 8 * s, 8);
        init(value_empty + 8 * s, 8);
      }
    }
    __syncthreads();
  }
  DEVICE void fill(u32 tiles, u32 full, u32 empty, const TensorMap *map, int block, int row, u32 bytes) {
    u32 s = block % STAGES;
    if (WRONG != NO_EMPTY_WAIT) wait(empty + 8 * s, block / STAGES % 2 ^ 1);
    expect(full + 8 * s, bytes);
    load2(tiles + s * BLOCK, map, 0, row, full + 8 * s);
  }
  DEVICE void produce(int first, int blocks, int key_row) {
    expect(query_full, Q_BYTES);
    load2(queries, q, 0, first, query_full);
#pragma unroll 1
    for (int block = 0; block < blocks; block++) {
      fill(keys, key_full, key_empty, k, block, key_row + block * KEYS, WRONG == KEYS_EXPECT ? BLOCK / 2 : BLOCK);
      fill(values, value_full, value_empty, v, block, key_row + block * KEYS, BLOCK);
    }
  }
  DEVICE void scores(float (&s)[KEYS / 2], int group, int block) {
    u32 left = queries + group * 64 * ROW, right = keys + block % STAGES * BLOCK;
    wait(key_full + block % STAGES * 8, block / STAGES % 2);
    wgmma_fence(s);
    for (int i = 0; i < D / 16; i++) wgmma_f16<0>(s, rows<ROW>(left + 32 * i), rows<ROW>(right + 32 * i), i > 0);
    wgmma_commit();
  }
  // O += P V: V has rows along the columns of the result.
  DEVICE void output(float (&o)[D / 2], const u32 (&p)[KEYS / 16][4], int block) {
    u32 right = values + block % STAGES * BLOCK;
    wait(value_full + block % STAGES * 8, WRONG == VALUES_PARITY ? block / STAGES % 2 ^ 1 : block / STAGES % 2);
    wgmma_fence(o);
    for (int i = 0; i < KEYS / 16; i++) wgmma_f16_registers<WRONG != NOT_TRANSPOSED>(o, p[i], rows<ROW>(right + i * 16 * ROW), block > 0 || i > 0);
    wgmma_commit();
  }
  DEVICE void release(u32 empty, int block) {
    bool silent = WRONG == ONE_MISSING && threadIdx.x >= 256;
    if (threadIdx.x % 32 == 0 && !silent) arrive(empty + block % STAGES * 8);
  }
  static DEVICE void mask(float (&s)[KEYS / 2], int query, int key) {
    for (int i = 0; i < KEYS / 2; i++) {
      int place = key + threadIdx.x % 4 * 2 + i / 4 * 8 + i % 2, own = query + i / 2 % 2 * 8;
      if (place > own + (WRONG == MASK_OFF_BY_ONE)) s[i] = -INFINITY;
    }
  }
  static DEVICE void probabilities(u32 (&p)[KEYS / 16][4], const float (&s)[KEYS / 2]) {
    for (int i = 0; i < KEYS / 4; i++) p[i / 4][i % 4] = pack(s[2 * i], s[2 * i + 1]);
  }

  DEVICE void consume(float *O, int head, int L, int blocks, float scale) {
    int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    int query = blockIdx.x * 128 + group * 64 + (WRONG == MASK_PER_GROUP ? 0 : warp * 16 + lane / 4), row = blockIdx.x * 128 + group * 64 + warp * 16 + lane / 4;
    float o[D / 2] = {}, s[KEYS / 2] = {}, before[2];
    u32 p[KEYS / 16][4];
    Softmax<KEYS, WRONG> softmax(scale * 1.44269504f);
    if (WRONG != NO_QUERY_WAIT) wait(query_full, 0);
    scores(s, group, 0);
    if (WRONG == EARLY_KEYS) release(key_empty, 0);
    wgmma_wait<0>(s);
    if (WRONG != EARLY_KEYS) release(key_empty, 0);
    softmax.scaled(s);
    if (CAUSAL) mask(s, query, 0);
    softmax.update(s, before);
    probabilities(p, s);
#pragma unroll 1
    for (int block = 1; block < blocks; block++) {
      // Groups take turns in issuing products.
      if (TURNS && (group == 1 || block > 1)) sync(TURN + group, 256);
      scores(s, group, block);
      output(o, p, block - 1);
      if (TURNS && (group == 0 || block + 1 < blocks)) signal(TURN + 1 - group, 256);
      if (WRONG == EARLY_LATER_KEYS) release(key_empty, block);
      wgmma_wait<1>(s);
      if (WRONG != EARLY_LATER_KEYS) release(key_empty, block);
      if (WRONG == EARLY_VALUES) release(value_empty, block - 1);
      softmax.scaled(s);
      if (CAUSAL) mask(s, query, block * KEYS);
      softmax.update(s, before);
      wgmma_wait<0>(o);
      if (WRONG != EARLY_VALUES) release(value_empty, block - 1);
      if (WRONG != NO_RESCALE)
        for (int i = 0; i < D / 2; i++) o[i] *= before[i / 2 % 2];
      probabilities(p, s);
    }
    output(o, p, blocks - 1);
    wgmma_wait<0>(o);
    release(value_empty, blocks - 1);
    float total[2] = {softmax.total(0), softmax.total(1)};
    for (int i = 0; i < D / 2; i++) {
      int at = row + i / 2 % 2 * 8;
      if (at < L) O[(head * L + at) * D + lane % 4 * 2 + i / 4 * 8 + i % 2] = o[i] / total[i / 2 % 2];
    }
  }
};

template <int D, int KEYS, int STAGES, bool CAUSAL, bool TURNS, Mistake WRONG>
DEVICE void attention(const TensorMap *q, const TensorMap *k, const TensorMap *v, float *O, int L, int S, float scale) {
  Attention<D, KEYS, STAGES, CAUSAL, TURNS, WRONG> it(q, k, v);
  int head = blockIdx.y, blocks = S / KEYS;
  // Blocks of keys behind the last query are left out.
  if (CAUSAL) blocks = min(blocks, ((int)blockIdx.x * 128 + 128 + KEYS - 1) / KEYS);
  if (WRONG == SKIPPED_BLOCK) blocks--;
  if (threadIdx.x < 128) {
    give_registers<40>();
    if (threadIdx.x / 32 == 0 && elected()) it.produce(head * L + blockIdx.x * 128, blocks, head * S);
  } else {
    take_registers<232>();
    it.consume(O, head, L, blocks, scale);
  }
}

#define ATTENTION(NAME, D, KEYS, STAGES, CAUSAL, TURNS, WRONG) \
  extern "C" __global__ void __launch_bounds__(384, 1) NAME(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v, float *O, int L, int S, float scale) { \
    attention<D, KEYS, STAGES, CAUSAL, TURNS, WRONG>(&q, &k, &v, O, L, S, scale); \
  }
#ifndef BROKEN
ATTENTION(flash3_small, 16, 16, 2, false, true, NONE)
ATTENTION(flash3_small_causal, 16, 16, 2, true, true, NONE)
ATTENTION(flash3_small_no_turns, 16, 16, 2, false, false, NONE)
ATTENTION(flash3, 64, 64, 2, false, true, NONE)
ATTENTION(flash3_causal, 64, 64, 2, true, true, NONE)
#else
ATTENTION(no_rescale, 16, 16, 2, false, true, NO_RESCALE)
ATTENTION(sum_not_rescaled, 16, 16, 2, false, true, SUM_NOT_RESCALED)
ATTENTION(mask_off_by_one, 16, 16, 2, true, true, MASK_OFF_BY_ONE)
ATTENTION(mask_per_group, 16, 16, 2, true, true, MASK_PER_GROUP)
ATTENTION(early_keys, 16, 16, 2, false, true, EARLY_KEYS)
ATTENTION(early_later_keys, 16, 16, 2, false, true, EARLY_LATER_KEYS)
ATTENTION(early_values, 16, 16, 2, false, true, EARLY_VALUES)
ATTENTION(not_transposed, 16, 16, 2, false, true, NOT_TRANSPOSED)
ATTENTION(values_parity, 16, 16, 2, false, true, VALUES_PARITY)
ATTENTION(keys_expect, 16, 16, 2, false, true, KEYS_EXPECT)
ATTENTION(one_missing, 16, 16, 2, false, true, ONE_MISSING)
ATTENTION(no_empty_wait, 16, 16, 2, false, true, NO_EMPTY_WAIT)
ATTENTION(lanes, 16, 16, 2, false, true, LANES)
ATTENTION(skipped_block, 16, 16, 2, false, true, SKIPPED_BLOCK)
ATTENTION(no_query_wait, 16, 16, 2, false, true, NO_QUERY_WAIT)
ATTENTION(raw_maximum, 16, 16, 2, false, true, RAW_MAXIMUM)
#endif
