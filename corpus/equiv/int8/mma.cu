// Inner products of bytes on tensor cores: C [M, N] = A [M, K] transpose(B [N, K]), a warp for each 16 by 8 elements. M, N and K are
// multiples of 16, 8 and 32.

__device__ void multiply(int (&c)[4], const int (&a)[4], const int (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void multiply_limited(int (&c)[4], const int (&a)[4], const int (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void store(int* C, int N, int row, int col, const int (&c)[4]) {
  int lane = threadIdx.x % 32, *at = C + (row + lane / 4) * N + col + lane % 4 * 2;
  at[0] = c[0], at[1] = c[1], at[8 * N] = c[2], at[8 * N + 1] = c[3];
}

// Fragments straight from global memory.
extern "C" __global__ void mma(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C, int M, int N,
                               int K) {
  int lane = threadIdx.x % 32, row = blockIdx.y * 16, col = blockIdx.x * 8, c[4] = {0, 0, 0, 0};
  const signed char *from_a = A + (row + lane / 4) * K + lane % 4 * 4, *from_b = B + (col + lane / 4) * K + lane % 4 * 4;
  for (int k = 0; k < K; k += 32) {
    int a[4] = {*(const int*)(from_a + k), *(const int*)(from_a + 8 * K + k), *(const int*)(from_a + k + 16),
                *(const int*)(from_a + 8 * K + k + 16)};
    int b[2] = {*(const int*)(from_b + k), *(const int*)(from_b + k + 16)};
    multiply(c, a, b);
  }
  store(C, N, row, col, c);
}

// The same with sums that stay at the largest number instead of wrapping around; short ones never come there.
extern "C" __global__ void mma_limited(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C, int M,
                                       int N, int K) {
  int lane = threadIdx.x % 32, row = blockIdx.y * 16, col = blockIdx.x * 8, c[4] = {0, 0, 0, 0};
  const signed char *from_a = A + (row + lane / 4) * K + lane % 4 * 4, *from_b = B + (col + lane / 4) * K + lane % 4 * 4;
  for (int k = 0; k < K; k += 32) {
    int a[4] = {*(const int*)(from_a + k), *(const int*)(from_a + 8 * K + k), *(const int*)(from_a + k + 16),
                *(const int*)(from_a + 8 * K + k + 16)};
    int b[2] = {*(const int*)(from_b + k), *(const int*)(from_b + k + 16)};
    multiply_limited(c, a, b);
  }
  store(C, N, row, col, c);
}

// A tile of A through shared memory and ldmatrix, which moves pairs of bytes.
extern "C" __global__ void mma_ldmatrix(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C, int M,
                                        int N, int K) {
  __shared__ __align__(16) signed char tile[16][48];
  int lane = threadIdx.x % 32, row = blockIdx.y * 16, col = blockIdx.x * 8, c[4] = {0, 0, 0, 0};
  const signed char* from_b = B + (col + lane / 4) * K + lane % 4 * 4;
  unsigned at = (unsigned)__cvta_generic_to_shared(&tile[lane % 16][lane / 16 * 16]);
  for (int k = 0; k < K; k += 32) {
    *(int4*)&tile[lane / 2][lane % 2 * 16] = *(const int4*)(A + (row + lane / 2) * K + k + lane % 2 * 16);
    __syncwarp();
    int a[4], b[2] = {*(const int*)(from_b + k), *(const int*)(from_b + k + 16)};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(at));
    multiply(c, a, b);
    __syncwarp();
  }
  store(C, N, row, col, c);
}

// Two registers of A exchanged.
extern "C" __global__ void mma_exchanged(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C, int M,
                                         int N, int K) {
  int lane = threadIdx.x % 32, row = blockIdx.y * 16, col = blockIdx.x * 8, c[4] = {0, 0, 0, 0};
  const signed char *from_a = A + (row + lane / 4) * K + lane % 4 * 4, *from_b = B + (col + lane / 4) * K + lane % 4 * 4;
  for (int k = 0; k < K; k += 32) {
    int a[4] = {*(const int*)(from_a + k), *(const int*)(from_a + k + 16), *(const int*)(from_a + 8 * K + k),
                *(const int*)(from_a + 8 * K + k + 16)};
    int b[2] = {*(const int*)(from_b + k), *(const int*)(from_b + k + 16)};
    multiply(c, a, b);
  }
  store(C, N, row, col, c);
}

// From sums that are given.
extern "C" __global__ void mma_from(const signed char* __restrict__ A, const signed char* __restrict__ B, const int* __restrict__ S,
                         int* __restrict__ C, int M, int N, int K) {
  int lane = threadIdx.x % 32, row = blockIdx.y * 16, col = blockIdx.x * 8;
  const signed char *from_a = A + (row + lane / 4) * K + lane % 4 * 4, *from_b = B + (col + lane / 4) * K + lane % 4 * 4;
  const int* from = S + (row + lane / 4) * N + col + lane % 4 * 2;
  int c[4] = {from[0], from[1], from[8 * N], from[8 * N + 1]};
  for (int k = 0; k < K; k += 32) {
    int a[4] = {*(const int*)(from_a + k), *(const int*)(from_a + 8 * K + k), *(const int*)(from_a + k + 16),
                *(const int*)(from_a + 8 * K + k + 16)};
    int b[2] = {*(const int*)(from_b + k), *(const int*)(from_b + k + 16)};
    multiply(c, a, b);
  }
  store(C, N, row, col, c);
}

// The same, saturating: not the same where a sum that is given is large.
extern "C" __global__ void mma_limited_from(const signed char* __restrict__ A, const signed char* __restrict__ B, const int* __restrict__ S,
                         int* __restrict__ C, int M, int N, int K) {
  int lane = threadIdx.x % 32, row = blockIdx.y * 16, col = blockIdx.x * 8;
  const signed char *from_a = A + (row + lane / 4) * K + lane % 4 * 4, *from_b = B + (col + lane / 4) * K + lane % 4 * 4;
  const int* from = S + (row + lane / 4) * N + col + lane % 4 * 2;
  int c[4] = {from[0], from[1], from[8 * N], from[8 * N + 1]};
  for (int k = 0; k < K; k += 32) {
    int a[4] = {*(const int*)(from_a + k), *(const int*)(from_a + 8 * K + k), *(const int*)(from_a + k + 16),
                *(const int*)(from_a + 8 * K + k + 16)};
    int b[2] = {*(const int*)(from_b + k), *(const int*)(from_b + k + 16)};
    multiply_limited(c, a, b);
  }
  store(C, N, row, col, c);
}
