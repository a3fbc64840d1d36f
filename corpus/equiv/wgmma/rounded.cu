// Products whose factors lie in dynamic memory that the kernel aligns itself, against a plain loop.
#include <cuda_fp16.h>
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void rounded_naive(const __half *A, const __half *B, float *C) {
  int m = threadIdx.x;
  for (int n = 0; n < 8; n++) {
    float sum = 0;
    for (int k = 0; k < 64; k++) sum += __half2float(A[m * 64 + k]) * __half2float(B[n * 64 + k]);
    C[m * 8 + n] = sum;
  }
}

extern __shared__ char raw[];

__device__ __forceinline__ u64 descriptor(u32 address) {
  return (u64)(address >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

enum Start { BITS, POINTER, QUOTIENT, LOW };
enum Mistake { RIGHT, STEP, PLACE, NOT_ROUNDED };

template <int START, int WRONG> __device__ __forceinline__ void product(const __half *A, const __half *B, float *C) {
  u32 start = (u32)__cvta_generic_to_shared(raw);
  if (START == LOW) start += 16;
  if (START == POINTER) start = (u32)__cvta_generic_to_shared((char *)((u64)raw + 1023 & ~1023ull));
  if (START == QUOTIENT) start = (start + 1023) / 1024 * 1024;
  u32 a = WRONG == NOT_ROUNDED || START == POINTER || START == QUOTIENT ? start : start + 1023 & ~1023u;
  u32 b = a + (WRONG == PLACE ? 7168 : 8192);
  int t = threadIdx.x;
  for (int i = t; i < 64 * 64 + 8 * 64; i += 128) {
    int r = i / 64, c = i % 64;
    u32 at = r * 128 + ((c / 8 ^ r % 8) * 16) + c % 8 * 2;
    unsigned short value = __half_as_ushort(r < 64 ? A[i] : B[i - 64 * 64]);
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(a + at), "h"(value) : "memory");
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int k = 0; k < 4; k++) {
    u32 step = k * (WRONG == STEP ? 16 : 32);
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(a + step)), "l"(descriptor(b + step)) : "memory");
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) :: "memory");
  int row = 16 * (t / 32) + t % 32 / 4, column = 2 * (t % 4);
  for (int i = 0; i < 4; i++) C[(row + 8 * (i / 2)) * 8 + column + i % 2] = d[i];
}

#define PRODUCT(NAME, START, WRONG) \
  extern "C" __global__ void NAME(const __half *A, const __half *B, float *C) { product<START, WRONG>(A, B, C); }
PRODUCT(rounded_bits, BITS, RIGHT)
PRODUCT(rounded_pointer, POINTER, RIGHT)
PRODUCT(rounded_quotient, QUOTIENT, RIGHT)
PRODUCT(rounded_behind, LOW, RIGHT)
PRODUCT(rounded_step, BITS, STEP)
PRODUCT(rounded_place, BITS, PLACE)
PRODUCT(rounded_not, LOW, NOT_ROUNDED)
