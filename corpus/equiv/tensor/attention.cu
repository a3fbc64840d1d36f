// FlashAttention with tensor cores: a warp for 16 queries, 16 keys at a time. Scores stay in registers: the accumulators of Q K^T are the left
// factor of P V. FlashAttention-1 keeps the output normalised, FlashAttention-2 divides at the end.
#include <cuda_fp16.h>
#include <cstdint>

enum Kind { FLASH1, FLASH2, NO_RESCALE, NOT_TRANSPOSED, LANES };

__device__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void load4(uint32_t (&r)[4], const void* at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(at)));
}
__device__ void load4_transposed(uint32_t (&r)[4], const void* at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(at)));
}
__device__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ uint32_t pack(float low, float high) {
  __half2 both = __floats2half2_rn(low, high);
  return *(uint32_t*)&both;
}

template <int D, Kind KIND>
__device__ void flash(const __half* Q, const __half* K, const __half* V, float* O, int L, int S, float scale) {
  const int ROW = D + 8;
  __shared__ __align__(16) __half q_tile[16 * ROW], k_tile[16 * ROW], v_tile[16 * ROW];
  int lane = threadIdx.x, first = blockIdx.x * 16;
  auto fetch = [&](__half* tile, const __half* from) {
    for (int i = lane; i < 16 * D / 8; i += 32) *(uint4*)&tile[i / (D / 8) * ROW + i % (D / 8) * 8] = *(const uint4*)&from[i * 8];
  };
  fetch(q_tile, Q + first * D);
  __syncwarp();
  uint32_t q[D / 16][4];
  for (int d = 0; d < D / 16; d++) load4(q[d], &q_tile[lane % 16 * ROW + d * 16 + lane / 16 * 8]);
  float out[D / 8][4] = {}, top[2] = {-INFINITY, -INFINITY}, sum[2] = {};
  for (int key = 0; key < S; key += 16) {
    fetch(k_tile, K + key * D);
    fetch(v_tile, V + key * D);
    __syncwarp();
    float s[2][4] = {};
    for (int d = 0; d < D / 16; d++) {
      uint32_t k[4];
      load4(k, &k_tile[(lane % 8 + lane / 16 * 8) * ROW + d * 16 + lane / 8 % 2 * 8]);
      multiply(s[0], q[d], k[0], k[1]);
      multiply(s[1], q[d], k[2], k[3]);
    }
    for (int half = 0; half < 2; half++) {
      float highest = top[half];
      for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) highest = fmaxf(highest, s[j][2 * half + i] *= scale);
      highest = fmaxf(highest, __shfl_xor_sync(0xffffffff, highest, KIND == LANES ? 4 : 1));
      highest = fmaxf(highest, __shfl_xor_sync(0xffffffff, highest, 2));
      float before = __expf(top[half] - highest), added = 0.0f;
      top[half] = highest;
      for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) added += s[j][2 * half + i] = __expf(s[j][2 * half + i] - highest);
      added += __shfl_xor_sync(0xffffffff, added, KIND == LANES ? 4 : 1);
      added += __shfl_xor_sync(0xffffffff, added, 2);
      float total = sum[half] * before + added;
      float factor = KIND == NO_RESCALE ? 1.0f : KIND == FLASH1 ? sum[half] * before / total : before;
      for (int j = 0; j < D / 8; j++)
        for (int i = 0; i < 2; i++) out[j][2 * half + i] *= factor;
      if (KIND == FLASH1)
        for (int j = 0; j < 2; j++)
          for (int i = 0; i < 2; i++) s[j][2 * half + i] /= total;
      sum[half] = total;
    }
    uint32_t p[4] = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]), pack(s[1][2], s[1][3])};
    for (int d = 0; d < D / 16; d++) {
      uint32_t v[4];
      const __half* from = &v_tile[lane % 16 * ROW + d * 16 + lane / 16 * 8];
      if (KIND == NOT_TRANSPOSED) load4(v, from); else load4_transposed(v, from);
      multiply(out[2 * d], p, v[0], v[1]);
      multiply(out[2 * d + 1], p, v[2], v[3]);
    }
    __syncwarp();
  }
  for (int j = 0; j < D / 8; j++)
    for (int half = 0; half < 2; half++) {
      float divisor = KIND == FLASH1 ? 1.0f : sum[half];
      float2 both = make_float2(out[j][2 * half] / divisor, out[j][2 * half + 1] / divisor);
      *(float2*)&O[(first + lane / 4 + 8 * half) * D + 8 * j + lane % 4 * 2] = both;
    }
}

#define KERNEL(NAME, D, KIND)                                                                                                      \
  extern "C" __global__ void NAME(const __half* Q, const __half* K, const __half* V, float* O, int L, int S, float scale) { \
    flash<D, KIND>(Q, K, V, O, L, S, scale);                                                                                   \
  }
KERNEL(flash1_16, 16, FLASH1)
KERNEL(flash2_16, 16, FLASH2)
KERNEL(flash1_64, 64, FLASH1)
KERNEL(flash2_64, 64, FLASH2)
KERNEL(flash2_no_rescale, 16, NO_RESCALE)
KERNEL(flash2_not_transposed, 16, NOT_TRANSPOSED)
KERNEL(flash2_lanes, 16, LANES)
