// Kernels that are fed by tensor copies, and plain ones that compute the same.
typedef unsigned int u32;
typedef unsigned long long u64;
struct alignas(64) TensorMap { char bytes[128]; };

__device__ __forceinline__ u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(u64 *bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void expect(u64 *bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(u64 *bar, int parity) {
  asm volatile("{\n.reg .pred P;\nL: mbarrier.try_wait.parity.shared::cta.b64 P, [%0], %1;\n@P bra D;\nbra L;\nD:\n}" ::"r"(shared_address(bar)), "r"(parity) : "memory");
}
__device__ __forceinline__ void load2(void *dst, const TensorMap *map, int x, int y, u64 *bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(dst)), "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)) : "memory");
}
__device__ __forceinline__ void store2(const TensorMap *map, int x, int y, const void *src) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(shared_address(src)) : "memory");
}
__device__ __forceinline__ void add2(const TensorMap *map, int x, int y, const void *src) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(shared_address(src)) : "memory");
}
__device__ __forceinline__ void finish() {
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

extern "C" __global__ void gemm_naive(const float *A, const float *B, float *C, int M, int N, int K) {
  int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; k++) sum += A[m * K + k] * B[k * N + n];
  C[m * N + n] = sum;
}

// Where element i of row r lies in a tile with rows of 32 floats; swizzled ones exchange groups of four.
template <bool SWIZZLED> __device__ __forceinline__ int at(int r, int i) {
  return r * 32 + (SWIZZLED ? ((i / 4) ^ (r % 8)) * 4 + i % 4 : i);
}

// C = A B with 32x32 tiles, two stages; thread 0 issues the copies.
template <bool SWIZZLED, int COORDINATES, int WRONG>
__device__ __forceinline__ void gemm(const TensorMap *a, const TensorMap *b, float *C, int M, int N, int K) {
  __shared__ __align__(1024) float As[2][32 * 32];
  __shared__ __align__(1024) float Bs[2][32 * 32];
  __shared__ __align__(8) u64 full[2];
  int t = threadIdx.x, m0 = blockIdx.y * 32, n0 = blockIdx.x * 32, steps = (K + 31) / 32;
  if (t == 0) { init(&full[0], 1); init(&full[1], 1); }
  __syncthreads();
  if (t == 0) {
    expect(&full[0], 8192);
    load2(As[0], a, 0, m0, &full[0]);
    load2(Bs[0], b, n0, 0, &full[0]);
  }
  float sum[4] = {0, 0, 0, 0};
  for (int k = 0; k < steps; k++) {
    int s = k % 2;
    if (t == 0 && k + 1 < steps) {
      int next = (k + 1) % 2, k0 = (k + 1) * 32;
      expect(&full[next], 8192);
      load2(As[next], a, COORDINATES ? m0 : k0, COORDINATES ? k0 : m0, &full[next]);
      load2(Bs[next], b, n0, k0, &full[next]);
    }
    wait(&full[s], (k / 2) % 2);
    for (int q = 0; q < 4; q++) {
      int i = t + 256 * q, row = i / 32, column = i % 32;
      for (int x = 0; x < 32; x++) sum[q] += As[s][at<SWIZZLED>(row, x)] * Bs[s][at<SWIZZLED && !WRONG>(x, column)];
    }
    __syncthreads();
  }
  for (int q = 0; q < 4; q++) {
    int i = t + 256 * q, row = m0 + i / 32, column = n0 + i % 32;
    if (row < M && column < N) C[row * N + column] = sum[q];
  }
}
extern "C" __global__ void gemm_tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *C, int M, int N, int K) {
  gemm<false, 0, 0>(&a, &b, C, M, N, K);
}
extern "C" __global__ void gemm_swizzled(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *C, int M, int N, int K) {
  gemm<true, 0, 0>(&a, &b, C, M, N, K);
}
extern "C" __global__ void gemm_half_swizzled(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *C, int M, int N, int K) {
  gemm<true, 0, 1>(&a, &b, C, M, N, K);
}
extern "C" __global__ void gemm_coordinates(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *C, int M, int N, int K) {
  gemm<false, 1, 0>(&a, &b, C, M, N, K);
}

extern "C" __global__ void softmax_naive(const float *x, float *y, int n) {
  const float *row = x + blockIdx.x * n;
  float sum = 0;
  for (int i = 0; i < n; i++) sum += expf(row[i]);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = expf(row[i]) / sum;
}
// Rows come and go by tensor copies; a warp for each row of 128 elements.
extern "C" __global__ void softmax_tma(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out) {
  __shared__ __align__(128) float row[128];
  __shared__ __align__(8) u64 bar;
  int t = threadIdx.x;
  if (t == 0) { init(&bar, 1); }
  __syncwarp();
  if (t == 0) { expect(&bar, 512); load2(row, &in, 0, blockIdx.x, &bar); }
  wait(&bar, 0);
  float v[4], most = -__int_as_float(0x7f800000), sum = 0;
  for (int i = 0; i < 4; i++) { v[i] = row[t + 32 * i]; most = fmaxf(most, v[i]); }
  for (int o = 16; o > 0; o /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  for (int i = 0; i < 4; i++) { v[i] = expf(v[i] - most); sum += v[i]; }
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  for (int i = 0; i < 4; i++) row[t + 32 * i] = v[i] / sum;
  fence();
  __syncwarp();
  if (t == 0) { store2(&out, 0, blockIdx.x, row); finish(); }
}
// Sums of columns: blocks add rows with reducing copies.
extern "C" __global__ void columns_naive(const float *x, float *y, int rows) {
  float sum = y[threadIdx.x];
  for (int r = 0; r < rows; r++) sum += x[r * 64 + threadIdx.x];
  y[threadIdx.x] = sum;
}
extern "C" __global__ void columns_tma(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out) {
  __shared__ __align__(128) float row[64];
  __shared__ __align__(8) u64 bar;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    expect(&bar, 256);
    load2(row, &in, 0, blockIdx.x, &bar);
    wait(&bar, 0);
    add2(&out, 0, 0, row);
    finish();
  }
}
extern "C" __global__ void columns_bulk(const __grid_constant__ TensorMap in, float *y) {
  __shared__ __align__(128) float row[64];
  __shared__ __align__(8) u64 bar;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    expect(&bar, 256);
    load2(row, &in, 0, blockIdx.x, &bar);
    wait(&bar, 0);
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" ::"l"(y), "r"(shared_address(row)) : "memory");
    finish();
  }
}
