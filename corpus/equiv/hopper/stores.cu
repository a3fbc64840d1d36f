// C = A B by one warp group, without tensor copies: threads write tiles of 64 rows of A and 16 columns of B to shared memory, by stores or by asynchronous
// copies of 16 bytes. Tensor cores read through the asynchronous proxy, so each writer needs a proxy fence. M, N and K are multiples of the tiles.
#include "hopper.cuh"

enum Form { STORES, COPIES };
enum Mistake { NONE, NO_FENCE, FENCE_OF_ONE, NO_BARRIER, NO_SECOND_BARRIER, NO_WAIT, NOT_SWIZZLED };

constexpr int BN = 16, ROW = 64, BK = ROW / 2, A_BYTES = 64 * ROW;

// Moves `count` rows of a tile; 16 bytes at a time.
template <Form FORM, Mistake WRONG> DEVICE void move(u32 to, const unsigned short *from, int count, int K) {
#pragma unroll 1
  for (int i = threadIdx.x; i < count * (ROW / 16); i += 128) {
    int row = i / (ROW / 16), chunk = i % (ROW / 16);
    u32 place = row * ROW + chunk * 16;
    if (WRONG != NOT_SWIZZLED) place ^= (place >> 7 & (ROW / 16 - 1)) << 4;
    const unsigned short *source = from + row * K + chunk * 8;
    if (FORM == COPIES) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + place), "l"(__cvta_generic_to_global(source)) : "memory");
    } else {
      uint4 v = *(const uint4 *)source;
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to + place), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    }
  }
}

template <Form FORM, Mistake WRONG> DEVICE void gemm(const unsigned short *A, const unsigned short *B, float *C, int M, int N, int K) {
  __shared__ __align__(1024) unsigned char memory[A_BYTES + BN * ROW];
  u32 base = shared_address(memory);
  int t = threadIdx.x, m0 = blockIdx.y * 64, n0 = blockIdx.x * BN;
  float sum[BN / 2] = {};
#pragma unroll 1
  for (int k = 0; k < K; k += BK) {
    move<FORM, WRONG>(base, A + m0 * K + k, 64, K);
    move<FORM, WRONG>(base + A_BYTES, B + n0 * K + k, BN, K);
    if (FORM == COPIES && WRONG != NO_WAIT) asm volatile("cp.async.wait_all;" ::: "memory");
    if (WRONG != NO_FENCE && (WRONG != FENCE_OF_ONE || t == 0)) fence_async();
    if (WRONG != NO_BARRIER) __syncthreads();
    wgmma_fence(sum);
    for (int i = 0; i < ROW / 32; i++) wgmma_f16<0>(sum, rows<ROW>(base + 32 * i), rows<ROW>(base + A_BYTES + 32 * i), k > 0 || i > 0);
    wgmma_commit();
    wgmma_wait<0>(sum);
    if (WRONG != NO_SECOND_BARRIER) __syncthreads();
  }
  write(C, sum, m0 + t / 32 * 16 + t % 32 / 4, n0 + t % 4 * 2, M, N);
}

#define GEMM(NAME, FORM, WRONG) \
  extern "C" __global__ void __launch_bounds__(128) NAME(const unsigned short *A, const unsigned short *B, float *C, int M, int N, int K) { gemm<FORM, WRONG>(A, B, C, M, N, K); }
#ifndef BROKEN
GEMM(stores, STORES, NONE)
GEMM(copies, COPIES, NONE)
#else
GEMM(stores_no_fence, STORES, NO_FENCE)
GEMM(stores_fence_of_one, STORES, FENCE_OF_ONE)
GEMM(stores_no_barrier, STORES, NO_BARRIER)
GEMM(stores_no_second_barrier, STORES, NO_SECOND_BARRIER)
GEMM(stores_not_swizzled, STORES, NOT_SWIZZLED)
GEMM(copies_no_fence, COPIES, NO_FENCE)
GEMM(copies_no_wait, COPIES, NO_WAIT)
#endif
