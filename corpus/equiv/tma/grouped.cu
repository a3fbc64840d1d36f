// Products of several matrices in one launch, through tensor maps that the host keeps in an array, and plain ones.
typedef unsigned int u32;
typedef unsigned long long u64;
struct alignas(64) TensorMap { char bytes[128]; };

__device__ __forceinline__ u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(u64 *bar, int parity) {
  asm volatile("{\n.reg .pred P;\nL: mbarrier.try_wait.parity.shared::cta.b64 P, [%0], %1;\n@P bra D;\nbra L;\nD:\n}" ::"r"(shared_address(bar)), "r"(parity) : "memory");
}
__device__ __forceinline__ void load2(void *dst, const TensorMap *map, int x, int y, u64 *bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(dst)), "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)) : "memory");
}

extern "C" __global__ void grouped_naive(const float *const *A, const float *const *B, float *const *C, const int *M, int N, int K) {
  int g = blockIdx.z, n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M[g] || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; k++) sum += A[g][m * K + k] * B[g][k * N + n];
  C[g][m * N + n] = sum;
}

enum Mistake { RIGHT, MAP, TARGET, REFILL, ROWS };

// 16x16 tiles; maps[2 * g] is that of the first factor of product g, maps[2 * g + 1] that of the second.
template <int WRONG> __device__ __forceinline__ void grouped(const TensorMap *maps, float *const *C, const int *M, int N, int K) {
  __shared__ __align__(128) float As[16 * 16];
  __shared__ __align__(128) float Bs[16 * 16];
  __shared__ __align__(8) u64 full;
  int g = blockIdx.z, t = threadIdx.x, m0 = blockIdx.y * 16, n0 = blockIdx.x * 16;
  const TensorMap *a = maps + (WRONG == MAP ? 0 : 2 * g), *b = maps + 2 * g + 1;
  if (m0 >= M[g]) return;
  if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full)) : "memory");
  __syncthreads();
  float sum[2] = {0, 0};
  for (int k = 0; k < K / 16; k++) {
    if (t == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(shared_address(&full)) : "memory");
      load2(As, a, 16 * k, m0, &full);
      load2(Bs, b, n0, 16 * k, &full);
    }
    wait(&full, k % 2);
    for (int i = 0; i < 16; i++)
      for (int j = 0; j < 2; j++) sum[j] += As[(t / 16 + 8 * j) * 16 + i] * Bs[i * 16 + t % 16];
    if (WRONG != REFILL) __syncthreads();
  }
  for (int j = 0; j < 2; j++) {
    int m = m0 + t / 16 + 8 * j;
    if (WRONG == ROWS || m < M[g]) C[WRONG == TARGET ? 0 : g][m * N + n0 + t % 16] = sum[j];
  }
}

#define GROUPED(NAME, WRONG) \
  extern "C" __global__ void NAME(const TensorMap *maps, float *const *C, const int *M, int N, int K) { grouped<WRONG>(maps, C, M, N, K); }
GROUPED(grouped_maps, RIGHT)
GROUPED(grouped_other_map, MAP)
GROUPED(grouped_other_target, TARGET)
GROUPED(grouped_refill, REFILL)
GROUPED(grouped_rows, ROWS)
