// C = A B of e4m3 numbers. The sums of four steps (128 elements) are scaled and added in registers of their own, because tensor cores add up with few bits.
#include "hopper.cuh"

enum Mistake { NONE, KEEP, LAST_BLOCK, FIRST_SCALE, SAME_ROW, WIDTH, E5M2, THREE_STEPS, NO_BARRIER, SCALED_TWICE };

template <int BN, int STAGES, bool BLOCKS, Mistake WRONG>
DEVICE void gemm(const TensorMap *a, const TensorMap *b, float *C, const float *SA, const float *SB, float scale, int M, int N, int K, int width) {
  constexpr int A_BYTES = 64 * 128, B_BYTES = BN * 128, STAGE = A_BYTES + B_BYTES;
  extern __shared__ __align__(1024) unsigned char memory[];
  u32 base = shared_address(memory), full = base + STAGES * STAGE;
  int t = threadIdx.x, m0 = blockIdx.y * 64, n0 = blockIdx.x * BN, steps = K / 128, row = m0 + t / 32 * 16 + t % 32 / 4;
  if (t == 0)
    for (int s = 0; s < STAGES; s++) init(full + 8 * s, 1);
  __syncthreads();
  auto fill = [&](int k) {
    u32 at = base + k % STAGES * STAGE, bar = full + k % STAGES * 8;
    expect(bar, STAGE);
    load2(at, a, k * 128, m0, bar);
    load2(at + A_BYTES, b, k * 128, n0, bar);
  };
  if (t == 0)
    for (int k = 0; k < STAGES; k++)
      if (k < steps) fill(k);
  float part[BN / 2] = {}, sum[BN / 2] = {};
#pragma unroll 1
  for (int k = 0; k < steps; k++) {
    u32 at = base + k % STAGES * STAGE;
    wait(full + k % STAGES * 8, k / STAGES % 2);
    wgmma_fence(part);
    for (int i = 0; i < (WRONG == THREE_STEPS ? 3 : 4); i++) {
      int keep = i > 0 || (WRONG == KEEP && k > 0);
      if constexpr (WRONG == E5M2) wgmma_e4m3_e5m2(part, rows<128>(at + 32 * i), rows<128>(at + A_BYTES + 32 * i), keep);
      else wgmma_e4m3(part, rows<128>(at + 32 * i), rows<128>(at + A_BYTES + 32 * i), keep);
    }
    wgmma_commit();
    wgmma_wait<0>(part);
    if (WRONG != NO_BARRIER) __syncthreads();
    if (t == 0 && k + STAGES < steps) fill(k + STAGES);
    if (WRONG == LAST_BLOCK && k + 1 == steps) break;
    if (BLOCKS) {
      int block = WRONG == FIRST_SCALE ? 0 : k;
      float right = SB[(WRONG == WIDTH ? blockIdx.x / width : n0 / width) * steps + block];
      float high = SA[row * steps + block] * right, low = SA[(WRONG == SAME_ROW ? row : row + 8) * steps + block] * right;
      for (int i = 0; i < BN / 2; i++) sum[i] += (i / 2 % 2 ? low : high) * part[i];
    } else {
      for (int i = 0; i < BN / 2; i++) sum[i] = WRONG == SCALED_TWICE ? (sum[i] + part[i]) * scale : sum[i] + part[i];
    }
  }
  if (!BLOCKS && WRONG != SCALED_TWICE)
    for (int i = 0; i < BN / 2; i++) sum[i] *= scale;
  write(C, sum, row, n0 + t % 4 * 2, M, N);
}

#define TENSOR(NAME, BN, STAGES, WRONG) \
  extern "C" __global__ void __launch_bounds__(128) NAME(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *C, float scale_a, float scale_b, int M, int N, int K) { \
    gemm<BN, STAGES, false, WRONG>(&a, &b, C, 0, 0, scale_a * scale_b, M, N, K, 1); \
  }
#define BLOCKS(NAME, BN, STAGES, WRONG) \
  extern "C" __global__ void __launch_bounds__(128) NAME(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *C, const float *SA, const float *SB, int M, int N, int K, int width) { \
    gemm<BN, STAGES, true, WRONG>(&a, &b, C, SA, SB, 1.0f, M, N, K, width); \
  }
#ifndef BROKEN
TENSOR(fp8_tensor, 16, 2, NONE)
BLOCKS(fp8_blocks, 16, 2, NONE)
BLOCKS(fp8_blocks_large, 128, 4, NONE)
#else
TENSOR(tensor_keep, 16, 2, KEEP)
TENSOR(tensor_scaled_twice, 16, 2, SCALED_TWICE)
TENSOR(tensor_e5m2, 16, 2, E5M2)
BLOCKS(blocks_keep, 16, 2, KEEP)
BLOCKS(blocks_last, 16, 2, LAST_BLOCK)
BLOCKS(blocks_first_scale, 16, 2, FIRST_SCALE)
BLOCKS(blocks_same_row, 16, 2, SAME_ROW)
BLOCKS(blocks_width, 16, 2, WIDTH)
BLOCKS(blocks_three_steps, 16, 2, THREE_STEPS)
BLOCKS(blocks_no_barrier, 16, 2, NO_BARRIER)
#endif
