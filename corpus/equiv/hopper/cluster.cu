// C = A B in clusters of two blocks that have the same columns: each loads its rows of A, and half of B for both. A stage is empty when the four consumer
// warps of both blocks have arrived. Blocks leave together, because arrivals and copies of the other may be under way.
#include "hopper.cuh"

enum Mistake { NONE, NO_PEER, PEER_MISSING, NO_LAST_BARRIER, NO_FIRST_BARRIER, MASK, EXPECT_HALF, BLOCK_SCOPE, HALVES, EARLY_RELEASE };

DEVICE u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
DEVICE void cluster_sync() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
DEVICE void arrive_at(u32 bar, u32 rank) {
  asm volatile("{\n.reg .b32 place;\nmapa.shared::cluster.u32 place, %0, %1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [place];\n}" ::"r"(bar), "r"(rank) : "memory");
}
DEVICE void arrive_at_block_scope(u32 bar, u32 rank) {
  asm volatile("{\n.reg .b32 place;\nmapa.shared::cluster.u32 place, %0, %1;\nmbarrier.arrive.release.cta.shared::cluster.b64 _, [place];\n}" ::"r"(bar), "r"(rank) : "memory");
}
DEVICE void wait_cluster(u32 bar, u32 parity) {
  asm volatile("{\n.reg .pred P;\nL: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P, [%0], %1;\n@P bra D;\nbra L;\nD:\n}" ::"r"(bar), "r"(parity) : "memory");
}
DEVICE void load2_multicast(u32 to, const TensorMap *map, int x, int y, u32 bar, unsigned short mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(bar), "h"(mask) : "memory");
}

template <int BN, int ROW, int STAGES, Mistake WRONG>
DEVICE void gemm(const TensorMap *a, const TensorMap *b, float *C, int M, int N, int K) {
  constexpr int BK = ROW / 2, A_BYTES = 64 * ROW, B_BYTES = BN * ROW, STAGE = A_BYTES + B_BYTES;
  extern __shared__ __align__(1024) unsigned char memory[];
  u32 base = shared_address(memory), full = base + STAGES * STAGE, empty = full + STAGES * 8, rank = cluster_rank();
  int t = threadIdx.x, m0 = blockIdx.x * 64, n0 = blockIdx.y * BN, steps = (K + BK - 1) / BK;
  if (t == 0) {
    for (int s = 0; s < STAGES; s++) {
      init(full + 8 * s, 1);
      init(empty + 8 * s, WRONG == NO_PEER ? 4 : 8);
    }
    fence_init();
  }
  if (WRONG == NO_FIRST_BARRIER) __syncthreads();
  else cluster_sync();
  if (t / 128 == 0) {
    if (t / 32 == 0 && elected()) {
#pragma unroll 1
      for (int k = 0; k < steps; k++) {
        u32 s = k % STAGES, at = base + s * STAGE;
        wait_cluster(empty + 8 * s, k / STAGES % 2 ^ 1);
        expect(full + 8 * s, WRONG == EXPECT_HALF ? A_BYTES + B_BYTES / 2 : STAGE);
        load2(at, a, k * BK, m0, full + 8 * s);
        u32 half = WRONG == HALVES ? rank ^ 1 : rank;
        load2_multicast(at + A_BYTES + rank * (B_BYTES / 2), b, k * BK, n0 + half * (BN / 2), full + 8 * s, WRONG == MASK ? 1 << rank : 3);
      }
    }
  } else {
    int lane = t % 32;
    float sum[BN / 2] = {};
    // Lane 0 arrives in block 0 of the cluster, lane 1 in block 1.
    auto release = [&](int k) {
      if (WRONG == NO_PEER || WRONG == PEER_MISSING) {
        if (lane == 0) arrive(empty + k % STAGES * 8);
      } else if (lane < 2) {
        if (WRONG == BLOCK_SCOPE) arrive_at_block_scope(empty + k % STAGES * 8, lane);
        else arrive_at(empty + k % STAGES * 8, lane);
      }
    };
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
      u32 s = k % STAGES, at = base + s * STAGE;
      wait(full + 8 * s, k / STAGES % 2);
      wgmma_fence(sum);
      for (int i = 0; i < ROW / 32; i++) wgmma_f16<0>(sum, rows<ROW>(at + 32 * i), rows<ROW>(at + A_BYTES + 32 * i), k > 0 || i > 0);
      wgmma_commit();
      if (WRONG == EARLY_RELEASE) release(k);
      wgmma_wait<0>(sum);
      if (WRONG != EARLY_RELEASE) release(k);
    }
    write(C, sum, m0 + t % 128 / 32 * 16 + lane / 4, n0 + lane % 4 * 2, M, N);
  }
  __syncwarp();
  if (WRONG != NO_LAST_BARRIER) cluster_sync();
}

#define GEMM(NAME, BN, ROW, STAGES, WRONG) \
  extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256, 1) NAME(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *C, int M, int N, int K) { \
    gemm<BN, ROW, STAGES, WRONG>(&a, &b, C, M, N, K); \
  }
#ifndef BROKEN
GEMM(cluster, 16, 64, 2, NONE)
GEMM(cluster_large, 128, 128, 4, NONE)
#else
GEMM(no_peer, 16, 64, 2, NO_PEER)
GEMM(peer_missing, 16, 64, 2, PEER_MISSING)
GEMM(no_last_barrier, 16, 64, 2, NO_LAST_BARRIER)
GEMM(no_first_barrier, 16, 64, 2, NO_FIRST_BARRIER)
GEMM(mask, 16, 64, 2, MASK)
GEMM(expect_half, 16, 64, 2, EXPECT_HALF)
GEMM(block_scope, 16, 64, 2, BLOCK_SCOPE)
GEMM(halves, 16, 64, 2, HALVES)
GEMM(early_release, 16, 64, 2, EARLY_RELEASE)
#endif
