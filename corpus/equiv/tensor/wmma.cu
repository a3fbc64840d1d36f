// Products with wmma: a warp for each tile of 16 by 16, from global memory, through shared memory, with an epilogue, and broken.
#include <mma.h>
using namespace nvcuda;

using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using FragmentB = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
using FragmentC = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

extern "C" __global__ void wmma_gemm(const __half* A, const __half* B, float* C, int M, int N, int K) {
  FragmentA a;
  FragmentB b;
  FragmentC c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, c, N, wmma::mem_row_major);
}

// B is taken for column-major: right only if it is symmetric.
extern "C" __global__ void wmma_transposed(const __half* A, const __half* B, float* C, int M, int N, int K) {
  FragmentA a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
  FragmentC c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, c, N, wmma::mem_row_major);
}

// Four warps for a tile of 32 by 32, with padded tiles in shared memory.
extern "C" __global__ void wmma_shared(const __half* A, const __half* B, float* C, int M, int N, int K) {
  __shared__ __align__(32) __half As[32][24], Bs[16][40];
  int warp = threadIdx.x / 32, row = warp / 2 * 16, col = warp % 2 * 16;
  FragmentA a;
  FragmentB b;
  FragmentC c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    for (int i = threadIdx.x; i < 32 * 16; i += 128) {
      As[i / 16][i % 16] = A[(blockIdx.y * 32 + i / 16) * K + k + i % 16];
      Bs[i / 32][i % 32] = B[(k + i / 32) * N + blockIdx.x * 32 + i % 32];
    }
    __syncthreads();
    wmma::load_matrix_sync(a, &As[row][0], 24);
    wmma::load_matrix_sync(b, &Bs[0][col], 40);
    wmma::mma_sync(c, a, b, c);
    __syncthreads();
  }
  wmma::store_matrix_sync(C + (blockIdx.y * 32 + row) * N + blockIdx.x * 32 + col, c, N, wmma::mem_row_major);
}

// The epilogue works on elements of fragments, whatever they are.
extern "C" __global__ void wmma_alpha_beta(const __half* A, const __half* B, const float* C, float* D, int M, int N, int K, float alpha,
                                           float beta) {
  FragmentA a;
  FragmentB b;
  FragmentC c, d;
  wmma::fill_fragment(d, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
    wmma::mma_sync(d, a, b, d);
  }
  int at = blockIdx.y * 16 * N + blockIdx.x * 16;
  wmma::load_matrix_sync(c, C + at, N, wmma::mem_row_major);
  for (int i = 0; i < c.num_elements; i++) d.x[i] = alpha * d.x[i] + beta * c.x[i];
  wmma::store_matrix_sync(D + at, d, N, wmma::mem_row_major);
}

// The accumulators go through shared memory; lanes read what others have stored.
template <bool SYNC>
__device__ void through_shared(const __half* A, const __half* B, float* C, int M, int N, int K) {
  __shared__ __align__(32) float tile[16][16];
  FragmentA a;
  FragmentB b;
  FragmentC c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(&tile[0][0], c, 16, wmma::mem_row_major);
  if (SYNC) __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) C[(blockIdx.y * 16 + i / 16) * N + blockIdx.x * 16 + i % 16] = tile[i / 16][i % 16];
}
extern "C" __global__ void wmma_through_shared(const __half* A, const __half* B, float* C, int M, int N, int K) {
  through_shared<true>(A, B, C, M, N, K);
}
extern "C" __global__ void wmma_no_syncwarp(const __half* A, const __half* B, float* C, int M, int N, int K) {
  through_shared<false>(A, B, C, M, N, K);
}

// Accumulators in half precision.
extern "C" __global__ void wmma_half(const __half* A, const __half* B, __half* C, int M, int N, int K) {
  FragmentA a;
  FragmentB b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> c;
  wmma::fill_fragment(c, __float2half(0.0f));
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, c, N, wmma::mem_row_major);
}

// tf32, column-major result.
extern "C" __global__ void wmma_tf32(const float* A, const float* B, float* C, int M, int N, int K) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 8) {
    wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
    for (int i = 0; i < a.num_elements; i++) a.x[i] = wmma::__float_to_tf32(a.x[i]);
    for (int i = 0; i < b.num_elements; i++) b.x[i] = wmma::__float_to_tf32(b.x[i]);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, c, N, wmma::mem_row_major);
}

// Lane 0 changes an element of its fragment: which one it is, the manual does not say.
extern "C" __global__ void wmma_lane(const __half* A, const __half* B, float* C, int M, int N, int K) {
  FragmentA a;
  FragmentB b;
  FragmentC c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
    wmma::mma_sync(c, a, b, c);
  }
  if (threadIdx.x == 0) c.x[0] = 0.0f;
  wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, c, N, wmma::mem_row_major);
}
