// VOLTA's Table 4: C = A B, 32 by 32 elements for a block of 512 threads. A is M by K, B is K by N, row-major; K is a multiple of 16.
#include <mma.h>

// Two elements for each thread, from global memory.
extern "C" __global__ void reference(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N, int K) {
  int row = blockIdx.y * 32 + threadIdx.x / 32, col = blockIdx.x * 32 + threadIdx.x % 32;
  for (int half = 0; half < 32; half += 16) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[(row + half) * K + k] * B[k * N + col];
    C[(row + half) * N + col] = sum;
  }
}

// Tiles of 32 by 8 in shared memory; half of the threads load A, the others B.
extern "C" __global__ void gemm1(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N, int K) {
  __shared__ float as[32][9], bs[8][32];
  int t = threadIdx.x, row = t / 32, col = t % 32;
  A += blockIdx.y * 32 * K;
  B += blockIdx.x * 32;
  C += blockIdx.y * 32 * N + blockIdx.x * 32;
  float upper = 0.0f, lower = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 8) {
    if (t < 256) as[t / 8][t % 8] = A[t / 8 * K + k0 + t % 8];
    else bs[t / 32 - 8][col] = B[(k0 + t / 32 - 8) * N + col];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
      upper += as[row][k] * bs[k][col];
      lower += as[row + 16][k] * bs[k][col];
    }
    __syncthreads();
  }
  C[row * N + col] = upper;
  C[(row + 16) * N + col] = lower;
}

// Tiles of 32 by 16, two neighbouring elements for each thread, pairs of floats.
extern "C" __global__ void gemm2(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N, int K) {
  __shared__ __align__(16) float as[32][18];
  __shared__ __align__(16) float bs[16][32];
  int t = threadIdx.x, row = t / 16, col = t % 16 * 2;
  A += blockIdx.y * 32 * K;
  B += blockIdx.x * 32;
  C += blockIdx.y * 32 * N + blockIdx.x * 32;
  float2 sum = make_float2(0.0f, 0.0f);
  for (int k0 = 0; k0 < K; k0 += 16) {
    if (t < 256) *(float2*)&as[t / 8][t % 8 * 2] = *(const float2*)&A[t / 8 * K + k0 + t % 8 * 2];
    else *(float2*)&bs[t / 16 - 16][col] = *(const float2*)&B[(k0 + t / 16 - 16) * N + col];
    __syncthreads();
    for (int k = 0; k < 16; k++) {
      float a = as[row][k];
      float2 b = *(float2*)&bs[k][col];
      sum.x += a * b.x;
      sum.y += a * b.y;
    }
    __syncthreads();
  }
  *(float2*)&C[row * N + col] = sum;
}

// Tiles of 32 by 16; all threads load, four warps multiply 16 by 16 elements each on tensor cores.
extern "C" __global__ void gemm3(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N, int K) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) float as[32 * 20], bs[16 * 36];
  int t = threadIdx.x, warp = t / 32, row = warp / 2 * 16, col = warp % 2 * 16;
  A += blockIdx.y * 32 * K;
  B += blockIdx.x * 32;
  C += blockIdx.y * 32 * N + blockIdx.x * 32;
  fragment<accumulator, 16, 16, 8, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k0 = 0; k0 < K; k0 += 16) {
    as[t / 16 * 20 + t % 16] = A[t / 16 * K + k0 + t % 16];
    bs[t / 32 * 36 + t % 32] = B[(k0 + t / 32) * N + t % 32];
    __syncthreads();
    if (warp < 4)
      for (int k = 0; k < 16; k += 8) {
        fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> a;
        fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> b;
        load_matrix_sync(a, &as[row * 20 + k], 20);
        load_matrix_sync(b, &bs[k * 36 + col], 36);
        for (int i = 0; i < a.num_elements; i++) a.x[i] = __float_to_tf32(a.x[i]);
        for (int i = 0; i < b.num_elements; i++) b.x[i] = __float_to_tf32(b.x[i]);
        mma_sync(sum, a, b, sum);
      }
    __syncthreads();
  }
  if (warp < 4) store_matrix_sync(&C[row * N + col], sum, N, mem_row_major);
}
