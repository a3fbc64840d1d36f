// Inner products of bytes: C [M, N] = A [M, K] transpose(B [N, K]), sums in 32 bits. K is a multiple of four.

extern "C" __global__ void naive(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C, int M,
                                 int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  int sum = 0;
  for (int k = 0; k < K; k++) sum += (int)A[row * K + k] * (int)B[col * K + k];
  C[row * N + col] = sum;
}

// Four bytes at a time.
extern "C" __global__ void dp4a(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C, int M,
                                int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const int* a = (const int*)(A + row * K);
  const int* b = (const int*)(B + col * K);
  int sum = 0;
  for (int k = 0; k < K / 4; k++) sum = __dp4a(a[k], b[k], sum);
  C[row * N + col] = sum;
}

// Tiles of packs in shared memory, 8 by 8 outputs.
extern "C" __global__ void dp4a_tiled(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C,
                                      int M, int N, int K) {
  __shared__ int as[8][9], bs[8][9];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col0 = blockIdx.x * 8;
  int sum = 0;
  for (int k0 = 0; k0 < K / 4; k0 += 8) {
    as[ty][tx] = row < M && k0 + tx < K / 4 ? ((const int*)A)[row * (K / 4) + k0 + tx] : 0;
    bs[ty][tx] = col0 + ty < N && k0 + tx < K / 4 ? ((const int*)B)[(col0 + ty) * (K / 4) + k0 + tx] : 0;
    __syncthreads();
    for (int k = 0; k < 8; k++) sum = __dp4a(as[ty][k], bs[tx][k], sum);
    __syncthreads();
  }
  if (row < M && col0 + tx < N) C[row * N + col0 + tx] = sum;
}

// Bytes taken out of packs by shifts.
extern "C" __global__ void shifts(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C,
                                  int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const int* a = (const int*)(A + row * K);
  const int* b = (const int*)(B + col * K);
  int sum = 0;
  for (int k = 0; k < K / 4; k++)
    for (int j = 0; j < 4; j++) sum += (a[k] << (24 - 8 * j) >> 24) * (b[k] << (24 - 8 * j) >> 24);
  C[row * N + col] = sum;
}

// Scaled to float: y = scale (A B) + bias.
extern "C" __global__ void scaled_naive(const signed char* __restrict__ A, const signed char* __restrict__ B,
                                        const float* __restrict__ bias, float* __restrict__ y, int M, int N, int K, float scale) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) sum += (float)A[row * K + k] * (float)B[col * K + k];
  y[row * N + col] = sum * scale + bias[col];
}

extern "C" __global__ void scaled_dp4a(const signed char* __restrict__ A, const signed char* __restrict__ B,
                                       const float* __restrict__ bias, float* __restrict__ y, int M, int N, int K, float scale) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const int* a = (const int*)(A + row * K);
  const int* b = (const int*)(B + col * K);
  int sum = 0;
  for (int k = 0; k < K / 4; k++) sum = __dp4a(a[k], b[k], sum);
  y[row * N + col] = (float)sum * scale + bias[col];
}

// Wrong: bytes without sign.
extern "C" __global__ void dp4a_unsigned(const signed char* __restrict__ A, const signed char* __restrict__ B,
                                         int* __restrict__ C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const unsigned* a = (const unsigned*)(A + row * K);
  const unsigned* b = (const unsigned*)(B + col * K);
  unsigned sum = 0;
  for (int k = 0; k < K / 4; k++) sum = __dp4a(a[k], b[k], sum);
  C[row * N + col] = (int)sum;
}

// Wrong: the bytes of one pack in the other order.
extern "C" __global__ void dp4a_order(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C,
                                      int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const int* a = (const int*)(A + row * K);
  const int* b = (const int*)(B + col * K);
  int sum = 0;
  for (int k = 0; k < K / 4; k++) sum = __dp4a((int)__byte_perm(a[k], 0, 0x0123), b[k], sum);
  C[row * N + col] = sum;
}

// Wrong: the last pack is left out.
extern "C" __global__ void dp4a_short(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C,
                                      int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const int* a = (const int*)(A + row * K);
  const int* b = (const int*)(B + col * K);
  int sum = 0;
  for (int k = 0; k < K / 4 - 1; k++) sum = __dp4a(a[k], b[k], sum);
  C[row * N + col] = sum;
}
