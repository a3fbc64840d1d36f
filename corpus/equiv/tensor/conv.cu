// A 3 by 3 convolution as a product with tensor cores: rows are pixels, columns filters, the sum goes over taps and channels, 16 channels at a
// time. cp.async fills in zeros around the picture. 256 threads for a tile of 16 * ROWS pixels and 16 * COLS filters, each warp for some of it.
#include <cuda_fp16.h>
#include <cstdint>

enum Mistake { NONE, NO_ZEROS, ONE_BUFFER };

__device__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void copy16(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes));
}

template <int ROWS, int COLS, int WARPS, Mistake MISTAKE>
__device__ void conv(const __half* x, const __half* w, float* y, int H, int W, int C, int F) {
  const int M = 16 * ROWS, N = 16 * COLS, A_ROW = 24, B_ROW = N + 8;
  __shared__ __align__(16) __half a_tile[2][M * A_ROW], b_tile[2][16 * B_ROW];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, m0 = blockIdx.y * M, n0 = blockIdx.x * N, steps = 9 * C / 16;
  auto fetch = [&](int step) {
    int tap = step / (C / 16), c0 = step % (C / 16) * 16, buffer = MISTAKE == ONE_BUFFER ? 0 : step % 2;
    for (int i = threadIdx.x; i < M * 2; i += 32 * WARPS) {
      int pixel = m0 + i / 2, row = pixel / W + tap / 3 - 1, col = pixel % W + tap % 3 - 1;
      bool inside = row >= 0 && row < H && col >= 0 && col < W;
      int at = inside ? row * W + col : 0;
      copy16(&a_tile[buffer][i / 2 * A_ROW + i % 2 * 8], x + at * C + c0 + i % 2 * 8, inside || MISTAKE == NO_ZEROS ? 16 : 0);
    }
    for (int i = threadIdx.x; i < 16 * N / 8; i += 32 * WARPS) {
      int k = i / (N / 8), chunk = i % (N / 8);
      copy16(&b_tile[buffer][k * B_ROW + chunk * 8], w + (tap * C + c0 + k) * F + n0 + chunk * 8, 16);
    }
    asm volatile("cp.async.commit_group;");
  };
  const int SHARE = ROWS * COLS / WARPS;
  float c[SHARE][2][4] = {};
  fetch(0);
  for (int step = 0; step < steps; step++) {
    if (step + 1 < steps && MISTAKE != ONE_BUFFER) {
      fetch(step + 1);
      asm volatile("cp.async.wait_group 1;");
    } else {
      if (MISTAKE == ONE_BUFFER && step > 0) fetch(step);
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    int buffer = MISTAKE == ONE_BUFFER ? 0 : step % 2;
    for (int t = 0; t < SHARE; t++) {
      int tile = warp * SHARE + t, row = tile / COLS * 16, col = tile % COLS * 16;
      uint32_t a[4], b[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                   : "r"(shared_address(&a_tile[buffer][(row + lane % 16) * A_ROW + lane / 16 * 8])));
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                   : "r"(shared_address(&b_tile[buffer][lane % 16 * B_ROW + col + lane / 16 * 8])));
      for (int j = 0; j < 2; j++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[t][j][0]), "+f"(c[t][j][1]), "+f"(c[t][j][2]), "+f"(c[t][j][3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * j]), "r"(b[2 * j + 1]));
    }
    if (MISTAKE != ONE_BUFFER) __syncthreads();
  }
  for (int t = 0; t < SHARE; t++) {
    int tile = warp * SHARE + t, row = m0 + tile / COLS * 16 + lane / 4, col = n0 + tile % COLS * 16 + lane % 4 * 2;
    for (int j = 0; j < 2; j++) {
      *(float2*)&y[row * F + col + 8 * j] = make_float2(c[t][j][0], c[t][j][1]);
      *(float2*)&y[(row + 8) * F + col + 8 * j] = make_float2(c[t][j][2], c[t][j][3]);
    }
  }
}

#define KERNEL(NAME, ROWS, COLS, WARPS, MISTAKE)                                                                           \
  extern "C" __global__ void NAME(const __half* x, const __half* w, float* y, int H, int W, int C, int F) { \
    conv<ROWS, COLS, WARPS, MISTAKE>(x, w, y, H, W, C, F);                                                                 \
  }
KERNEL(conv_small, 1, 2, 2, NONE)
KERNEL(conv_large, 8, 8, 8, NONE)
KERNEL(conv_no_zeros, 1, 2, 2, NO_ZEROS)
KERNEL(conv_one_buffer, 1, 2, 2, ONE_BUFFER)
