// C = A B with a producer warp and two consumer groups, each with 64 of the 128 rows of a tile. Stages go round: `full` counts bytes, `empty` the eight
// warps that have waited for their products. The number of stages used so far is the same on both sides and goes on from tile to tile.
#include "hopper.cuh"

enum Mistake {
  NONE, NO_EMPTY_WAIT, EARLY_RELEASE, RELEASE_CURRENT, PRODUCER_PARITY, CONSUMER_PARITY, PARITY_KEPT, EXPECT_A, ONE_RELEASES, ONE_MISSING, SAME_HALF,
  KEEP, RESTART, LAST_TILE, EXCHANGED, NO_WAIT
};

template <int BN, int ROW, int STAGES, bool PERSISTENT, Mistake WRONG>
DEVICE void gemm(const TensorMap *a, const TensorMap *b, float *C, int M, int N, int K) {
  constexpr int BK = ROW / 2, A_BYTES = 128 * ROW, B_BYTES = BN * ROW, STAGE = A_BYTES + B_BYTES;
  extern __shared__ __align__(1024) unsigned char memory[];
  u32 base = shared_address(memory), full = base + STAGES * STAGE, empty = full + STAGES * 8;
  int t = threadIdx.x, group = t / 128, steps = (K + BK - 1) / BK;
  int across = (N + BN - 1) / BN, tiles = PERSISTENT ? (M + 127) / 128 * across : blockIdx.x + 1;
  if (WRONG == LAST_TILE) tiles--;
  if (t == 0)
    for (int s = 0; s < STAGES; s++) {
      init(full + 8 * s, 1);
      init(empty + 8 * s, WRONG == ONE_RELEASES ? 4 : 8);
    }
  __syncthreads();
  if (group == 0) {
    give_registers<40>();
    if (t / 32 == 0 && elected()) {
      int used = 0;
#pragma unroll 1
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int m0 = tile / across * 128, n0 = tile % across * BN;
        if (WRONG == EXCHANGED) { m0 = tile % across * 128; n0 = tile / across * BN; }
#pragma unroll 1
        for (int k = 0; k < steps; k++, used++) {
          u32 s = used % STAGES, at = base + s * STAGE;
          u32 parity = WRONG == PRODUCER_PARITY ? used / STAGES % 2 : WRONG == PARITY_KEPT ? 1 : used / STAGES % 2 ^ 1;
          if (WRONG != NO_EMPTY_WAIT) wait(empty + 8 * s, parity);
          expect(full + 8 * s, WRONG == EXPECT_A ? A_BYTES : STAGE);
          load2(at, a, k * BK, m0, full + 8 * s);
          load2(at + A_BYTES, b, k * BK, n0, full + 8 * s);
        }
      }
    }
  } else {
    take_registers<232>();
    int used = 0, lane = t % 32;
    float sum[BN / 2] = {};
    auto release = [&](int which) {
      if (lane == 0 && (group == 1 || (WRONG != ONE_RELEASES && WRONG != ONE_MISSING))) arrive(empty + which % STAGES * 8);
    };
#pragma unroll 1
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      if (WRONG == RESTART) used = 0;
#pragma unroll 1
      for (int k = 0; k < steps; k++, used++) {
        u32 s = used % STAGES, at = base + s * STAGE;
        if (WRONG != NO_WAIT) wait(full + 8 * s, WRONG == CONSUMER_PARITY ? used / STAGES % 2 ^ 1 : used / STAGES % 2);
        u32 half = at + (WRONG == SAME_HALF ? 0 : group - 1) * 64 * ROW;
        bool again = WRONG == KEEP && tile != blockIdx.x;
        wgmma_fence(sum);
        for (int i = 0; i < ROW / 32; i++) wgmma_f16<0>(sum, rows<ROW>(half + 32 * i), rows<ROW>(at + A_BYTES + 32 * i), k > 0 || i > 0 || again);
        wgmma_commit();
        if (WRONG == EARLY_RELEASE || WRONG == RELEASE_CURRENT) {
          if (WRONG == RELEASE_CURRENT) wgmma_wait<1>(sum);
          release(used);
        } else {
          wgmma_wait<1>(sum);
          if (k > 0) release(used - 1);
        }
      }
      wgmma_wait<0>(sum);
      if (WRONG != EARLY_RELEASE && WRONG != RELEASE_CURRENT) release(used - 1);
      write(C, sum, tile / across * 128 + (group - 1) * 64 + t % 128 / 32 * 16 + lane / 4, tile % across * BN + lane % 4 * 2, M, N);
    }
  }
}

#define GEMM(NAME, BN, ROW, STAGES, PERSISTENT, WRONG) \
  extern "C" __global__ void __launch_bounds__(384, 1) NAME(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *C, int M, int N, int K) { \
    gemm<BN, ROW, STAGES, PERSISTENT, WRONG>(&a, &b, C, M, N, K); \
  }
#ifndef BROKEN
GEMM(specialised, 16, 64, 2, false, NONE)
GEMM(specialised_3_stages, 16, 32, 3, false, NONE)
GEMM(specialised_large, 128, 128, 4, false, NONE)
GEMM(persistent, 16, 64, 2, true, NONE)
GEMM(persistent_large, 128, 128, 4, true, NONE)
#else
GEMM(no_empty_wait, 16, 64, 2, false, NO_EMPTY_WAIT)
GEMM(early_release, 16, 64, 2, false, EARLY_RELEASE)
GEMM(release_current, 16, 64, 2, false, RELEASE_CURRENT)
GEMM(producer_parity, 16, 64, 2, false, PRODUCER_PARITY)
GEMM(consumer_parity, 16, 64, 2, false, CONSUMER_PARITY)
GEMM(parity_kept, 16, 64, 2, false, PARITY_KEPT)
GEMM(expect_a, 16, 64, 2, false, EXPECT_A)
GEMM(one_releases, 16, 64, 2, false, ONE_RELEASES)
GEMM(one_missing, 16, 64, 2, false, ONE_MISSING)
GEMM(same_half, 16, 64, 2, false, SAME_HALF)
GEMM(no_full_wait, 16, 64, 2, false, NO_WAIT)
GEMM(persistent_keep, 16, 64, 2, true, KEEP)
GEMM(persistent_restart, 16, 64, 2, true, RESTART)
GEMM(persistent_last_tile, 16, 64, 2, true, LAST_TILE)
GEMM(persistent_exchanged, 16, 64, 2, true, EXCHANGED)
GEMM(persistent_early_release, 16, 64, 2, true, EARLY_RELEASE)
#endif
