// C = A B with mma.sync, ldmatrix and three stages of cp.async: four warps for a tile of 32 by 32, steps of 32 along k, 16 bytes of a row
// swizzled by the row. And the same with one mistake each.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

enum Mistake { NONE, TRANSPOSED, LANES, STAGE, WAIT, SWIZZLE, BARRIER };

__device__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void copy16(uint32_t to, const void* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)); }
__device__ void commit() { asm volatile("cp.async.commit_group;"); }
template <int N>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N));
}
__device__ void load4(uint32_t (&r)[4], uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
__device__ void load4_transposed(uint32_t (&r)[4], uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
}
__device__ void multiply(__half, float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ void multiply(__nv_bfloat16, float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The place of 16 bytes in a tile of 32 rows of 64 bytes.
__device__ uint32_t place(int row, int chunk) { return row * 64 + ((chunk ^ (row >> 1 & 3)) << 4); }

const int STAGES = 3, TILE = 32 * 64;

template <typename T, Mistake MISTAKE>
__device__ void gemm(const T* A, const T* B, float* C, int M, int N, int K) {
  __shared__ __align__(128) char a_tiles[STAGES * TILE], b_tiles[STAGES * TILE];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32, row = warp / 2 * 16, col = warp % 2 * 16;
  uint32_t as = shared_address(a_tiles), bs = shared_address(b_tiles);
  int steps = K / 32;
  auto fetch = [&](int step) {
    if (step < steps) {
      int r = threadIdx.x / 4, chunk = threadIdx.x % 4, stage = step % STAGES * TILE;
      copy16(as + stage + place(r, chunk), A + (m0 + r) * K + step * 32 + chunk * 8);
      copy16(bs + stage + place(r, chunk), B + (step * 32 + r) * N + n0 + chunk * 8);
    }
    commit();
  };
  float c[2][4] = {};
  for (int s = 0; s < STAGES - 1; s++) fetch(s);
  for (int step = 0; step < steps; step++) {
    if (MISTAKE == WAIT) wait<STAGES - 1>(); else wait<STAGES - 2>();
    if (MISTAKE != BARRIER) __syncthreads();
    fetch(step + STAGES - 1);
    int stage = (MISTAKE == STAGE ? step + 1 : step) % STAGES * TILE;
    for (int k = 0; k < 2; k++) {
      uint32_t a[4], b[4];
      int r = row + lane % 16, chunk = 2 * k + lane / 16;
      load4(a, as + stage + (MISTAKE == SWIZZLE ? r * 64 + chunk * 16 : place(r, chunk)));
      uint32_t from = bs + stage + place(16 * k + lane % 16, col / 8 + lane / 16);
      if (MISTAKE == TRANSPOSED) load4(b, from); else load4_transposed(b, from);
      multiply(T(), c[0], a, b[0], b[1]);
      multiply(T(), c[1], a, b[2], b[3]);
    }
  }
  for (int j = 0; j < 2; j++) {
    int r = m0 + row + (MISTAKE == LANES ? lane % 8 : lane / 4), x = n0 + col + 8 * j + 2 * (MISTAKE == LANES ? lane / 8 : lane % 4);
    *(float2*)(C + r * N + x) = make_float2(c[j][0], c[j][1]);
    *(float2*)(C + (r + 8) * N + x) = make_float2(c[j][2], c[j][3]);
  }
}

#define KERNEL(NAME, T, MISTAKE) \
  extern "C" __global__ void NAME(const T* A, const T* B, float* C, int M, int N, int K) { gemm<T, MISTAKE>(A, B, C, M, N, K); }
KERNEL(mma_f16, __half, NONE)
KERNEL(mma_bf16, __nv_bfloat16, NONE)
KERNEL(mma_transposed, __half, TRANSPOSED)
KERNEL(mma_lanes, __half, LANES)
KERNEL(mma_stage, __half, STAGE)
KERNEL(mma_wait, __half, WAIT)
KERNEL(mma_swizzle, __half, SWIZZLE)
KERNEL(mma_barrier, __half, BARRIER)

// tf32: a warp for 16 by 8, ldmatrix on pairs of halves that are singles, B by columns from shared memory.
extern "C" __global__ void mma_tf32(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float a_tile[16][8], b_tile[8][8];
  int lane = threadIdx.x, m0 = blockIdx.y * 16, n0 = blockIdx.x * 8;
  float c[4] = {};
  for (int k = 0; k < K; k += 8) {
    for (int i = lane; i < 128; i += 32) a_tile[i / 8][i % 8] = A[(m0 + i / 8) * K + k + i % 8];
    for (int i = lane; i < 64; i += 32) b_tile[i / 8][i % 8] = B[(k + i / 8) * N + n0 + i % 8];
    __syncwarp();
    uint32_t a[4], b[2];
    load4(a, shared_address(&a_tile[lane % 16][lane / 16 * 4]));
    for (int i = 0; i < 4; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a[i]) : "f"(__uint_as_float(a[i])));
    for (int i = 0; i < 2; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b[i]) : "f"(b_tile[lane % 4 + 4 * i][lane / 4]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    __syncwarp();
  }
  float* out = C + (m0 + lane / 4) * N + n0 + lane % 4 * 2;
  *(float2*)out = make_float2(c[0], c[1]);
  *(float2*)(out + 8 * N) = make_float2(c[2], c[3]);
}
