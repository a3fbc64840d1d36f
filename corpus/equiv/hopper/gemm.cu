// C = A B by one warp group for each tile of 64 rows and BN columns. Thread 0 loads stages of ROW bytes of each row of A and column of B; a stage is
// loaded again after every warp has waited for the products that read it.
#include "hopper.cuh"

// Types: functions, bytes of a factor, the sum.
struct F16 {
  typedef float Sum;
  static constexpr int SIZE = 2;
  template <int T, int LEFT, int N> static DEVICE void multiply(Sum (&d)[N], u64 a, u64 b, int keep) { wgmma_f16<T, LEFT>(d, a, b, keep); }
};
struct Bf16 {
  typedef float Sum;
  static constexpr int SIZE = 2;
  template <int T, int LEFT, int N> static DEVICE void multiply(Sum (&d)[N], u64 a, u64 b, int keep) { wgmma_bf16<T>(d, a, b, keep); }
};
struct Tf32 {
  typedef float Sum;
  static constexpr int SIZE = 4;
  template <int T, int LEFT, int N> static DEVICE void multiply(Sum (&d)[N], u64 a, u64 b, int keep) { wgmma_tf32(d, a, b, keep); }
};
struct S8 {
  typedef int Sum;
  static constexpr int SIZE = 1;
  template <int T, int LEFT, int N> static DEVICE void multiply(Sum (&d)[N], u64 a, u64 b, int keep) { wgmma_s8(d, a, b, keep); }
};

// How operands lie: rows along k, swizzled; the same in columns of 16 bytes without swizzle; B in rows along n; A in rows along m; A in registers.
enum Layout { K_MAJOR, PLAIN, N_MAJOR, M_MAJOR, REGISTERS };
enum Mistake { NONE, NO_WAIT, PARITY_KEPT, EXPECT_A, WAIT_LATER, NO_COMMIT, NO_BARRIER, STRIDE, SWIZZLE, ADVANCE, NOT_TRANSPOSED, LEADING, LANES, NO_SWIZZLE };

template <Layout LAYOUT, int BN, int ROW, Mistake WRONG> struct Tiles {
  static constexpr int A_BYTES = 64 * ROW, B_BYTES = BN * ROW;
  // B in rows along n: parts of SPAN bytes, which is the swizzle.
  static constexpr int SPAN = BN * 2 < ROW ? BN * 2 : ROW, DEPTH = ROW / 2;

  static DEVICE void load(u32 at, u32 bar, const TensorMap *a, const TensorMap *b, int k, int m, int n, int size) {
    expect(bar, WRONG == EXPECT_A ? A_BYTES : A_BYTES + B_BYTES);
    if (LAYOUT == PLAIN) {
      for (int i = 0; i < ROW / 16; i++) load2(at + i * 64 * 16, a, k + i * 16 / size, m, bar);
      for (int i = 0; i < ROW / 16; i++) load2(at + A_BYTES + i * BN * 16, b, k + i * 16 / size, n, bar);
      return;
    }
    if (LAYOUT == M_MAJOR) {
      for (int i = 0; i < 128 / ROW; i++) load2(at + i * DEPTH * ROW, a, m + i * ROW / 2, k, bar);
    } else {
      load2(at, a, k, m, bar);
    }
    if (LAYOUT == N_MAJOR) {
      for (int i = 0; i < BN * 2 / SPAN; i++) load2(at + A_BYTES + i * DEPTH * SPAN, b, n + i * SPAN / 2, k, bar);
    } else {
      load2(at + A_BYTES, b, k, n, bar);
    }
  }
  // Step i of a stage: 32 bytes of a row.
  static DEVICE u64 left(u32 at, int i) {
    if (LAYOUT == PLAIN) return descriptor<0>(at + i * 2 * 64 * 16, 64 * 16, WRONG == STRIDE ? 64 : 128);
    if (LAYOUT == M_MAJOR) return descriptor<ROW>(at + i * 16 * ROW, WRONG == LEADING ? ROW : DEPTH * ROW, 8 * ROW);
    if (WRONG == SWIZZLE) return descriptor<ROW / 2>(at + i * 32, 16, 8 * ROW);
    if (WRONG == STRIDE) return descriptor<ROW>(at + i * 32, 16, 4 * ROW);
    return rows<ROW>(at + i * (WRONG == ADVANCE ? 16 : 32));
  }
  static DEVICE u64 right(u32 at, int i) {
    at += A_BYTES;
    if (LAYOUT == PLAIN) return descriptor<0>(at + i * 2 * BN * 16, WRONG == LEADING ? 128 : BN * 16, 128);
    if (WRONG == NOT_TRANSPOSED) return rows<SPAN>(at + i * 32);
    if (LAYOUT == N_MAJOR) return descriptor<SPAN>(at + i * 16 * SPAN, WRONG == LEADING ? SPAN : DEPTH * SPAN, 8 * SPAN);
    return rows<ROW>(at + i * (WRONG == ADVANCE ? 16 : 32));
  }
};

// Four matrices of 8x8 halves of A: a warp's 16 rows and step i of a stage.
template <int ROW, Mistake WRONG> DEVICE void fragment(u32 (&a)[4], u32 at, int i) {
  int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane % 16, chunk = i * 2 + lane / 16;
  if (WRONG == LANES) { row = threadIdx.x / 32 * 16 + lane / 16 * 8 + lane % 8; chunk = i * 2 + lane / 8 % 2; }
  u32 place = row * ROW + chunk * 16;
  if (WRONG != NO_SWIZZLE) place ^= (place >> 7 & (ROW / 16 - 1)) << 4;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at + place) : "memory");
}

template <class T, Layout LAYOUT, int BN, int ROW, int STAGES, Mistake WRONG>
DEVICE void gemm(const TensorMap *a, const TensorMap *b, typename T::Sum *C, int M, int N, int K) {
  typedef Tiles<LAYOUT, BN, ROW, WRONG> Tile;
  constexpr int BK = ROW / T::SIZE, STAGE = Tile::A_BYTES + Tile::B_BYTES;
  extern __shared__ __align__(1024) unsigned char memory[];
  u32 base = shared_address(memory), full = base + STAGES * STAGE;
  int t = threadIdx.x, m0 = blockIdx.y * 64, n0 = blockIdx.x * BN, steps = (K + BK - 1) / BK;
  if (t == 0)
    for (int s = 0; s < STAGES; s++) init(full + 8 * s, 1);
  __syncthreads();
  auto fill = [&](int k) { Tile::load(base + k % STAGES * STAGE, full + k % STAGES * 8, a, b, k * BK, m0, n0, T::SIZE); };
  if (t == 0)
    for (int k = 0; k < STAGES; k++)
      if (k < steps) fill(k);
  typename T::Sum sum[BN / 2] = {};
#pragma unroll 1
  for (int k = 0; k < steps; k++) {
    u32 at = base + k % STAGES * STAGE;
    if (WRONG != NO_WAIT) wait(full + k % STAGES * 8, WRONG == PARITY_KEPT ? 0 : k / STAGES % 2);
    if constexpr (LAYOUT == REGISTERS) {
      u32 left[ROW / 32][4];
      for (int i = 0; i < ROW / 32; i++) fragment<ROW, WRONG>(left[i], at, i);
      fence_async();
      wgmma_fence(sum);
      for (int i = 0; i < ROW / 32; i++) wgmma_f16_registers<0>(sum, left[i], Tile::right(at, i), k > 0 || i > 0);
    } else {
      wgmma_fence(sum);
      for (int i = 0; i < ROW / 32; i++)
        T::template multiply<LAYOUT == N_MAJOR && WRONG != NOT_TRANSPOSED, LAYOUT == M_MAJOR && WRONG != NOT_TRANSPOSED>(sum, Tile::left(at, i), Tile::right(at, i), k > 0 || i > 0);
    }
    if (WRONG != NO_COMMIT) wgmma_commit();
    wgmma_wait<WRONG == WAIT_LATER>(sum);
    if (WRONG != NO_BARRIER) __syncthreads();
    if (t == 0 && k + STAGES < steps) fill(k + STAGES);
  }
  if (WRONG == WAIT_LATER || WRONG == NO_COMMIT) { wgmma_commit(); wgmma_wait<0>(sum); }
  write(C, sum, m0 + t / 32 * 16 + t % 32 / 4, n0 + t % 4 * 2, M, N);
}

#define GEMM(NAME, TYPE, LAYOUT, BN, ROW, STAGES, WRONG) \
  extern "C" __global__ void __launch_bounds__(128) NAME(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, TYPE::Sum *C, int M, int N, int K) { \
    gemm<TYPE, LAYOUT, BN, ROW, STAGES, WRONG>(&a, &b, C, M, N, K); \
  }
#ifndef BROKEN
GEMM(gemm, F16, K_MAJOR, 16, 64, 2, NONE)
GEMM(gemm_1_stage, F16, K_MAJOR, 16, 64, 1, NONE)
GEMM(gemm_3_stages, F16, K_MAJOR, 16, 32, 3, NONE)
GEMM(gemm_128B, F16, K_MAJOR, 64, 128, 2, NONE)
GEMM(gemm_plain, F16, PLAIN, 16, 64, 2, NONE)
GEMM(gemm_n_major, F16, N_MAJOR, 32, 64, 2, NONE)
GEMM(gemm_n_major_parts, F16, N_MAJOR, 64, 64, 2, NONE)
GEMM(gemm_m_major, F16, M_MAJOR, 16, 64, 2, NONE)
GEMM(gemm_registers, F16, REGISTERS, 16, 64, 2, NONE)
GEMM(gemm_bf16, Bf16, K_MAJOR, 16, 64, 2, NONE)
GEMM(gemm_tf32, Tf32, K_MAJOR, 16, 64, 2, NONE)
GEMM(gemm_s8, S8, K_MAJOR, 16, 64, 2, NONE)
GEMM(gemm_large, F16, K_MAJOR, 128, 128, 4, NONE)
GEMM(gemm_n_major_large, F16, N_MAJOR, 128, 128, 4, NONE)
#else
GEMM(no_wait, F16, K_MAJOR, 16, 64, 2, NO_WAIT)
GEMM(parity_kept, F16, K_MAJOR, 16, 64, 2, PARITY_KEPT)
GEMM(expect_a, F16, K_MAJOR, 16, 64, 2, EXPECT_A)
GEMM(wait_later, F16, K_MAJOR, 16, 64, 2, WAIT_LATER)
GEMM(no_commit, F16, K_MAJOR, 16, 64, 2, NO_COMMIT)
GEMM(no_barrier, F16, K_MAJOR, 16, 64, 2, NO_BARRIER)
GEMM(stride, F16, K_MAJOR, 16, 64, 2, STRIDE)
GEMM(swizzle, F16, K_MAJOR, 16, 64, 2, SWIZZLE)
GEMM(advance, F16, K_MAJOR, 16, 64, 2, ADVANCE)
GEMM(plain_leading, F16, PLAIN, 16, 64, 2, LEADING)
GEMM(plain_stride, F16, PLAIN, 16, 64, 2, STRIDE)
GEMM(n_major_not_transposed, F16, N_MAJOR, 32, 64, 2, NOT_TRANSPOSED)
GEMM(n_major_leading, F16, N_MAJOR, 64, 64, 2, LEADING)
GEMM(m_major_leading, F16, M_MAJOR, 16, 64, 2, LEADING)
GEMM(registers_lanes, F16, REGISTERS, 16, 64, 2, LANES)
GEMM(registers_no_swizzle, F16, REGISTERS, 16, 64, 2, NO_SWIZZLE)
GEMM(registers_no_barrier, F16, REGISTERS, 16, 64, 2, NO_BARRIER)
GEMM(bf16_advance, Bf16, K_MAJOR, 16, 64, 2, ADVANCE)
GEMM(tf32_swizzle, Tf32, K_MAJOR, 16, 64, 2, SWIZZLE)
GEMM(s8_stride, S8, K_MAJOR, 16, 64, 2, STRIDE)
#endif
