// The convolution of VOLTA's section 6.2: 3 by 3 with zeros around, as a product on tensor cores. 256 threads compute 128 pixels
// times 128 filters. Where each pixel's neighbours are is worked out once and kept in shared memory; asynchronous copies fill one
// pair of tiles while the other is multiplied. x is H by W by C, w is 9 by C by F, y is pixels by F; C is a multiple of 16.
#include <cuda_fp16.h>
#include <cstdint>

const int A_ROW = 24, B_ROW = 136;

__device__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void copy16(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes));
}

extern "C" __global__ void __launch_bounds__(256) conv(const __half* x, const __half* w, float* y, int H, int W, int C, int F) {
  __shared__ __align__(16) __half a_tile[2][128 * A_ROW], b_tile[2][16 * B_ROW];
  __shared__ int places[9 * 128];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, steps = 9 * C / 16;
  int m0 = blockIdx.y * 128, n0 = blockIdx.x * 128;
  // The element of x at which the neighbour of a pixel begins, or -1 outside of the picture.
  for (int i = t; i < 9 * 128; i += 256) {
    int tap = i / 128, pixel = m0 + i % 128, row = pixel / W + tap / 3 - 1, col = pixel % W + tap % 3 - 1;
    places[i] = row >= 0 && row < H && col >= 0 && col < W ? (row * W + col) * C : -1;
  }
  __syncthreads();
  auto fetch = [&](int step) {
    int tap = step / (C / 16), c0 = step % (C / 16) * 16, place = places[tap * 128 + t / 2];
    copy16(&a_tile[step % 2][t / 2 * A_ROW + t % 2 * 8], x + max(place, 0) + c0 + t % 2 * 8, place < 0 ? 0 : 16);
    copy16(&b_tile[step % 2][t / 16 * B_ROW + t % 16 * 8], w + (tap * C + c0 + t / 16) * F + n0 + t % 16 * 8, 16);
    asm volatile("cp.async.commit_group;");
  };
  float sums[8][2][4] = {};
  fetch(0);
  for (int step = 0; step < steps; step++) {
    if (step + 1 < steps) {
      fetch(step + 1);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    // A warp has 16 pixels and all filters: the left factor is loaded once.
    uint32_t a[4], b[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(shared_address(&a_tile[step % 2][(warp * 16 + lane % 16) * A_ROW + lane / 16 * 8])));
    for (int tile = 0; tile < 8; tile++) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                   : "r"(shared_address(&b_tile[step % 2][lane % 16 * B_ROW + tile * 16 + lane / 16 * 8])));
      for (int j = 0; j < 2; j++) {
        float(&c)[4] = sums[tile][j];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * j]), "r"(b[2 * j + 1]));
      }
    }
    __syncthreads();
  }
  for (int tile = 0; tile < 8; tile++)
    for (int j = 0; j < 2; j++) {
      float* to = &y[(m0 + warp * 16 + lane / 4) * F + n0 + tile * 16 + j * 8 + lane % 4 * 2];
      *(float2*)to = make_float2(sums[tile][j][0], sums[tile][j][1]);
      *(float2*)(to + 8 * F) = make_float2(sums[tile][j][2], sums[tile][j][3]);
    }
}
