// C = A B in halves: a chain of products and sums, a chain of fused ones, and tensor cores. M x N x K = 256 x 128 x 128.
#include <cuda_fp16.h>
#include <mma.h>
#define N 128
#define K 128
extern "C" __global__ void chain(const __half *a, const __half *b, __half *c)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    __half s = __float2half(0.0f);
    for (int k = 0; k < K; k++) s = __hadd_rn(s, __hmul_rn(a[row * K + k], b[k * N + col]));
    c[row * N + col] = s;
}
extern "C" __global__ void fused(const __half *a, const __half *b, __half *c)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    __half s = __float2half(0.0f);
    for (int k = 0; k < K; k++) s = __hfma(a[row * K + k], b[k * N + col], s);
    c[row * N + col] = s;
}
// Four warps, each with a strip of 16 rows and 64 columns; A and B come straight from global memory.
template <int LAST> __device__ __forceinline__ void cores(const __half *a, const __half *b, __half *c)
{
    using namespace nvcuda::wmma;
    int row = blockIdx.y * 64 + threadIdx.x / 32 * 16, col = blockIdx.x * 64;
    fragment<accumulator, 16, 16, 16, __half> acc[4];
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
    for (int j = 0; j < 4; j++) fill_fragment(acc[j], __float2half(0.0f));
    for (int k = 0; k < LAST; k += 16) {
        load_matrix_sync(fa, a + row * K + k, K);
        for (int j = 0; j < 4; j++) {
            load_matrix_sync(fb, b + k * N + col + 16 * j, N);
            mma_sync(acc[j], fa, fb, acc[j]);
        }
    }
    for (int j = 0; j < 4; j++) store_matrix_sync(c + row * N + col + 16 * j, acc[j], N, mem_row_major);
}
extern "C" __global__ void tensor(const __half *a, const __half *b, __half *c) { cores<K>(a, b, c); }
extern "C" __global__ void short_k(const __half *a, const __half *b, __half *c) { cores<K - 16>(a, b, c); }
