// C = A B with a producer warp and two consumer groups that take turns: while one multiplies, the other stores its tile of 64 rows. Two barriers
// of the block keep the order of the products; without them a group could not tell a phase from the one two before it. Tiles are stored by tensor copies.
#include "hopper.cuh"

enum Mistake { NONE, NO_ORDER, NO_FENCE, NO_BARRIER, NO_READ_WAIT, READ_WAIT_UNSHARED, SAME_BUFFER, SAME_POSITION, SAME_TURN, EARLY_RELEASE, EARLY_TURN };
enum { TURN = 1, STAGED = 3 };

template <int BN, int ROW, int STAGES, Mistake WRONG>
DEVICE void gemm(const TensorMap *a, const TensorMap *b, const TensorMap *c, int M, int N, int K) {
  constexpr int BK = ROW / 2, A_BYTES = 64 * ROW, B_BYTES = BN * ROW, STAGE = A_BYTES + B_BYTES, C_BYTES = 64 * BN * 4;
  extern __shared__ __align__(1024) unsigned char memory[];
  u32 staged = shared_address(memory), base = staged + 2 * C_BYTES, full = base + STAGES * STAGE, empty = full + STAGES * 8;
  int t = threadIdx.x, group = t / 128, steps = (K + BK - 1) / BK;
  int across = (N + BN - 1) / BN, tiles = (M + 63) / 64 * across;
  int count = (tiles - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
  if (t == 0)
    for (int s = 0; s < STAGES; s++) {
      init(full + 8 * s, 1);
      init(empty + 8 * s, 4);
    }
  __syncthreads();
  if (group == 0) {
    give_registers<40>();
    if (t / 32 == 0 && elected()) {
      int used = 0;
#pragma unroll 1
      for (int n = 0; n < count; n++) {
        int tile = blockIdx.x + n * gridDim.x, m0 = tile / across * 64, n0 = tile % across * BN;
#pragma unroll 1
        for (int k = 0; k < steps; k++, used++) {
          u32 s = used % STAGES, at = base + s * STAGE;
          wait(empty + 8 * s, used / STAGES % 2 ^ 1);
          expect(full + 8 * s, STAGE);
          load2(at, a, k * BK, m0, full + 8 * s);
          load2(at + A_BYTES, b, k * BK, n0, full + 8 * s);
        }
      }
    }
  } else {
    take_registers<232>();
    int me = group - 1, lane = t % 32, warp = t % 128 / 32;
    u32 mine = staged + (WRONG == SAME_BUFFER ? 0 : me) * C_BYTES;
    float sum[BN / 2] = {};
#pragma unroll 1
    for (int n = me; n < count; n += 2) {
      if (n > 0 && WRONG != NO_ORDER) sync(TURN + (WRONG == SAME_TURN ? 0 : me), 256);
      int used = (WRONG == SAME_POSITION ? n - me : n) * steps;
      if (WRONG == EARLY_TURN && n + 1 < count) signal(TURN + 1 - me, 256);
#pragma unroll 1
      for (int k = 0; k < steps; k++, used++) {
        u32 s = used % STAGES, at = base + s * STAGE;
        wait(full + 8 * s, used / STAGES % 2);
        wgmma_fence(sum);
        for (int i = 0; i < ROW / 32; i++) wgmma_f16<0>(sum, rows<ROW>(at + 32 * i), rows<ROW>(at + A_BYTES + 32 * i), k > 0 || i > 0);
        wgmma_commit();
        if (WRONG != EARLY_RELEASE) wgmma_wait<0>(sum);
        if (lane == 0) arrive(empty + 8 * s);
      }
      if (WRONG == EARLY_RELEASE) wgmma_wait<0>(sum);
      if (n + 1 < count && WRONG != NO_ORDER && WRONG != EARLY_TURN) signal(TURN + (WRONG == SAME_TURN ? 0 : 1 - me), 256);
      // The buffer may be written when the copies before have read it.
      if (n > me && WRONG != NO_READ_WAIT) {
        if (t % 128 == 0) wait_stores_read();
        if (WRONG != READ_WAIT_UNSHARED) sync(STAGED + me, 128);
      }
      for (int i = 0; i < BN / 2; i += 2) {
        int row = warp * 16 + lane / 4 + i / 2 % 2 * 8, column = lane % 4 * 2 + i / 4 * 8;
        u32 place = mine + column / 32 * 64 * 128 + row * 128 + (column % 32 * 4 ^ row % 8 * 16);
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(place), "f"(sum[i]), "f"(sum[i + 1]) : "memory");
      }
      if (WRONG != NO_FENCE) fence_async();
      if (WRONG != NO_BARRIER) sync(STAGED + me, 128);
      if (t % 128 == 0) {
        int tile = blockIdx.x + n * gridDim.x;
        for (int i = 0; i < BN / 32; i++) store2(c, tile % across * BN + 32 * i, tile / across * 64, mine + i * 64 * 128);
        commit_stores();
      }
    }
    if (t % 128 == 0) wait_stores();
  }
}

#define GEMM(NAME, BN, ROW, STAGES, WRONG) \
  extern "C" __global__ void __launch_bounds__(384, 1) NAME(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c, int M, int N, int K) { \
    gemm<BN, ROW, STAGES, WRONG>(&a, &b, &c, M, N, K); \
  }
#ifndef BROKEN
GEMM(pingpong, 32, 32, 2, NONE)
GEMM(pingpong_large, 128, 128, 4, NONE)
#else
GEMM(no_order, 32, 32, 2, NO_ORDER)
GEMM(no_fence, 32, 32, 2, NO_FENCE)
GEMM(no_barrier, 32, 32, 2, NO_BARRIER)
GEMM(no_read_wait, 32, 32, 2, NO_READ_WAIT)
GEMM(read_wait_unshared, 32, 32, 2, READ_WAIT_UNSHARED)
GEMM(same_buffer, 32, 32, 2, SAME_BUFFER)
GEMM(same_position, 32, 32, 2, SAME_POSITION)
GEMM(same_turn, 32, 32, 2, SAME_TURN)
GEMM(early_release, 32, 32, 2, EARLY_RELEASE)
GEMM(early_turn, 32, 32, 2, EARLY_TURN)
#endif
