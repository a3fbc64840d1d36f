// C = A B with the products along k in parts. Split-K: blocks of one tile have parts of equal length, and add to C, or store parts that a second
// launch adds. Stream-K: each block has the same number of steps, from wherever they begin to wherever they end, and adds to C, or waits for the blocks before it.
#include "hopper.cuh"

enum Mistake { NONE, STORE, LOAD_AND_STORE, OVERLAP, LOST_STEP, SAME_PART, NO_BARRIER, KEEP, RESTART, SHARED_TILE_STORED, LOST_UNIT };

// A tile of 64 rows and BN columns in stages of ROW bytes; `used` stages went before.
template <int BN, int ROW, int STAGES, Mistake WRONG> struct Pipeline {
  static constexpr int BK = ROW / 2, A_BYTES = 64 * ROW, STAGE = A_BYTES + BN * ROW;
  const TensorMap *a, *b;
  u32 base, full;
  int used;

  DEVICE Pipeline(const TensorMap *a, const TensorMap *b) : a(a), b(b), used(0) {
    extern __shared__ __align__(1024) unsigned char memory[];
    base = shared_address(memory);
    full = base + STAGES * STAGE;
    if (threadIdx.x == 0)
      for (int s = 0; s < STAGES; s++) init(full + 8 * s, 1);
    __syncthreads();
  }
  DEVICE void fill(int number, int k, int m0, int n0) {
    u32 at = base + number % STAGES * STAGE, bar = full + number % STAGES * 8;
    expect(bar, STAGE);
    load2(at, a, k * BK, m0, bar);
    load2(at + A_BYTES, b, k * BK, n0, bar);
  }
  // Steps first to last - 1 along k.
  DEVICE void multiply(float (&sum)[BN / 2], int first, int last, int m0, int n0, bool again) {
    if (threadIdx.x == 0)
      for (int i = 0; i < STAGES; i++)
        if (first + i < last) fill(used + i, first + i, m0, n0);
    if (WRONG == RESTART) used = 0;
#pragma unroll 1
    for (int k = first; k < last; k++, used++) {
      u32 at = base + used % STAGES * STAGE;
      wait(full + used % STAGES * 8, used / STAGES % 2);
      wgmma_fence(sum);
      for (int i = 0; i < ROW / 32; i++) wgmma_f16<0>(sum, rows<ROW>(at + 32 * i), rows<ROW>(at + A_BYTES + 32 * i), k > first || i > 0 || again);
      wgmma_commit();
      wgmma_wait<0>(sum);
      if (WRONG != NO_BARRIER) __syncthreads();
      if (threadIdx.x == 0 && k + STAGES < last) fill(used + STAGES, k + STAGES, m0, n0);
    }
  }
};

// Does something with every element of a thread's part that is in C.
template <int COUNT, class Action> DEVICE void each(float (&sum)[COUNT], int m0, int n0, int M, int N, Action action) {
  int t = threadIdx.x, first = m0 + t / 32 * 16 + t % 32 / 4, column = n0 + t % 4 * 2;
  for (int i = 0; i < COUNT; i += 2) {
    int row = first + i / 2 % 2 * 8, at = column + i / 4 * 8;
    if (row < M && at < N) {
      action(row * N + at, sum[i]);
      action(row * N + at + 1, sum[i + 1]);
    }
  }
}
DEVICE void add(float *to, float value) { asm volatile("red.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "f"(value) : "memory"); }

enum Result { ADD, PARTS };
template <int BN, int ROW, int STAGES, Result RESULT, Mistake WRONG>
DEVICE void split_k(const TensorMap *a, const TensorMap *b, float *C, int M, int N, int K) {
  Pipeline<BN, ROW, STAGES, WRONG> pipeline(a, b);
  int m0 = blockIdx.y * 64, n0 = blockIdx.x * BN, steps = (K + ROW / 2 - 1) / (ROW / 2);
  int length = (steps + gridDim.z - 1) / gridDim.z, first = blockIdx.z * length, last = min(first + length, steps);
  if (WRONG == OVERLAP) last = min(last + 1, steps);
  if (WRONG == LOST_STEP) last = min(first + steps / (int)gridDim.z, steps);
  float sum[BN / 2] = {};
  pipeline.multiply(sum, first, last, m0, n0, false);
  each(sum, m0, n0, M, N, [&](int at, float value) {
    if (RESULT == PARTS) C[(WRONG == SAME_PART ? 0 : blockIdx.z) * M * N + at] = value;
    else if (WRONG == STORE) C[at] = value;
    else if (WRONG == LOAD_AND_STORE) C[at] += value;
    else add(&C[at], value);
  });
}

// Steps of all tiles in one row, cut into equal parts.
template <int BN, int ROW, int STAGES, Mistake WRONG>
DEVICE void stream_k(const TensorMap *a, const TensorMap *b, float *C, int M, int N, int K) {
  Pipeline<BN, ROW, STAGES, WRONG> pipeline(a, b);
  int steps = (K + ROW / 2 - 1) / (ROW / 2), across = (N + BN - 1) / BN, units = (M + 63) / 64 * across * steps;
  int unit = blockIdx.x * units / gridDim.x, end = (blockIdx.x + 1) * units / gridDim.x - (WRONG == LOST_UNIT);
  float sum[BN / 2] = {};
  bool again = false;
#pragma unroll 1
  while (unit < end) {
    int tile = unit / steps, first = unit % steps, last = min(steps, first + end - unit), m0 = tile / across * 64, n0 = tile % across * BN;
    pipeline.multiply(sum, first, last, m0, n0, WRONG == KEEP && again);
    each(sum, m0, n0, M, N, [&](int at, float value) {
      if (WRONG == SHARED_TILE_STORED && first == 0) C[at] = value;
      else add(&C[at], value);
    });
    unit += last - first;
    again = true;
  }
}

// The same, but the block with the last step of a tile waits for those before it, each of which has stored a part and set its flag.
template <int BN, int ROW, int STAGES>
DEVICE void stream_k_flags(const TensorMap *a, const TensorMap *b, float *C, float *parts, u32 *flags, int M, int N, int K) {
  Pipeline<BN, ROW, STAGES, NONE> pipeline(a, b);
  int steps = (K + ROW / 2 - 1) / (ROW / 2), across = (N + BN - 1) / BN, units = (M + 63) / 64 * across * steps;
  int unit = blockIdx.x * units / gridDim.x, end = (blockIdx.x + 1) * units / gridDim.x;
  float sum[BN / 2] = {};
#pragma unroll 1
  while (unit < end) {
    int tile = unit / steps, first = unit % steps, last = min(steps, first + end - unit), m0 = tile / across * 64, n0 = tile % across * BN;
    pipeline.multiply(sum, first, last, m0, n0, false);
    if (last < steps) {
      for (int i = 0; i < BN / 2; i++) parts[(blockIdx.x * BN / 2 + i) * 128 + threadIdx.x] = sum[i];
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(__cvta_generic_to_global(&flags[blockIdx.x])) : "memory");
    } else {
      int other = blockIdx.x;
#pragma unroll 1
      while (other * units / (int)gridDim.x > tile * steps) {
        other--;
        u32 set = 0;
        while (set == 0) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(set) : "l"(__cvta_generic_to_global(&flags[other])) : "memory");
        for (int i = 0; i < BN / 2; i++) sum[i] += __ldcg(&parts[(other * BN / 2 + i) * 128 + threadIdx.x]);
      }
      each(sum, m0, n0, M, N, [&](int at, float value) { C[at] = value; });
    }
    unit += last - first;
  }
}

#define PARAMETERS const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b
#define SPLIT(NAME, BN, ROW, STAGES, WRONG) \
  extern "C" __global__ void __launch_bounds__(128) NAME(PARAMETERS, float *C, int M, int N, int K) { split_k<BN, ROW, STAGES, ADD, WRONG>(&a, &b, C, M, N, K); }
#define SPLIT_PARTS(NAME, BN, ROW, STAGES, WRONG) \
  extern "C" __global__ void __launch_bounds__(128) NAME(PARAMETERS, float *P, int M, int N, int K) { split_k<BN, ROW, STAGES, PARTS, WRONG>(&a, &b, P, M, N, K); }
#define STREAM(NAME, BN, ROW, STAGES, WRONG) \
  extern "C" __global__ void __launch_bounds__(128) NAME(PARAMETERS, float *C, int M, int N, int K) { stream_k<BN, ROW, STAGES, WRONG>(&a, &b, C, M, N, K); }
#ifndef BROKEN
SPLIT(split_k, 16, 64, 2, NONE)
SPLIT_PARTS(split_k_parts, 16, 64, 2, NONE)
STREAM(stream_k, 16, 64, 2, NONE)
SPLIT(split_k_large, 128, 128, 4, NONE)
STREAM(stream_k_large, 128, 128, 4, NONE)
extern "C" __global__ void __launch_bounds__(128) stream_k_flags(PARAMETERS, float *C, float *parts, u32 *flags, int M, int N, int K) {
  stream_k_flags<16, 64, 2>(&a, &b, C, parts, flags, M, N, K);
}
// Second launches.
extern "C" __global__ void add_parts(const float *P, float *C, int size, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  float sum = 0;
  for (int z = 0; z < count; z++) sum += P[z * size + i];
  C[i] = sum;
}
extern "C" __global__ void zero(float *C, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) C[i] = 0;
}
#else
SPLIT(split_store, 16, 64, 2, STORE)
SPLIT(split_load_and_store, 16, 64, 2, LOAD_AND_STORE)
SPLIT(split_overlap, 16, 64, 2, OVERLAP)
SPLIT(split_lost_step, 16, 64, 2, LOST_STEP)
SPLIT(split_no_barrier, 16, 64, 2, NO_BARRIER)
SPLIT_PARTS(split_parts_same, 16, 64, 2, SAME_PART)
SPLIT_PARTS(split_parts_overlap, 16, 64, 2, OVERLAP)
STREAM(stream_keep, 16, 64, 2, KEEP)
STREAM(stream_restart, 16, 64, 2, RESTART)
STREAM(stream_store, 16, 64, 2, SHARED_TILE_STORED)
STREAM(stream_lost_unit, 16, 64, 2, LOST_UNIT)
STREAM(stream_no_barrier, 16, 64, 2, NO_BARRIER)
#endif
