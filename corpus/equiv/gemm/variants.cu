// Matrix products with scalars, other layouts, batches, epilogues and narrow types.
#include <cuda_fp16.h>

// C = alpha A B + beta C.
extern "C" __global__ void sgemm_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K,
                                       float alpha, float beta) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
  }
}

// alpha goes to A on its way into shared memory, beta C is where the sum starts.
extern "C" __global__ void sgemm_tiled(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K,
                                       float alpha, float beta) {
  __shared__ float As[16][17];
  __shared__ float Bs[16][17];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  bool inside = row < M && col < N;
  float sum = inside ? beta * C[row * N + col] : 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[ty][tx] = row < M && k0 + tx < K ? alpha * A[row * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (inside) C[row * N + col] = sum;
}

// All three matrices by columns, as BLAS has them.
extern "C" __global__ void colmajor_naive(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                          int N, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row + k * M] * B[k + col * K];
    C[row + col * M] = sum;
  }
}

extern "C" __global__ void colmajor_tiled(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                          int N, int K) {
  __shared__ float As[16][17];
  __shared__ float Bs[16][17];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int row0 = blockIdx.x * 16, col0 = blockIdx.y * 16;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[ty][tx] = row0 + tx < M && k0 + ty < K ? A[row0 + tx + (k0 + ty) * M] : 0.0f;
    Bs[ty][tx] = col0 + ty < N && k0 + tx < K ? B[k0 + tx + (col0 + ty) * K] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += As[k][tx] * Bs[ty][k];
    __syncthreads();
  }
  if (row0 + tx < M && col0 + ty < N) C[row0 + tx + (col0 + ty) * M] = sum;
}

// C = A transpose(B), B is N by K.
extern "C" __global__ void nt_naive(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                    int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[col * K + k];
    C[row * N + col] = sum;
  }
}

extern "C" __global__ void nt_tiled(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                    int K) {
  __shared__ float As[16][17];
  __shared__ float Bs[16][17];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col0 = blockIdx.x * 16;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = col0 + ty < N && k0 + tx < K ? B[(col0 + ty) * K + k0 + tx] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[tx][k];
    __syncthreads();
  }
  if (row < M && col0 + tx < N) C[row * N + col0 + tx] = sum;
}

// Many small products, one for each blockIdx.z.
extern "C" __global__ void batched_naive(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                         int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int z = blockIdx.z;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[(z * M + row) * K + k] * B[(z * K + k) * N + col];
    C[(z * M + row) * N + col] = sum;
  }
}

// One warp for each product of the batch.
extern "C" __global__ void batched_warp(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                        int N, int K, int batch) {
  int z = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (z >= batch) return;
  A += z * M * K;
  B += z * K * N;
  C += z * M * N;
  for (int e = threadIdx.x % 32; e < M * N; e += 32) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[e / N * K + k] * B[k * N + e % N];
    C[e] = sum;
  }
}

// y = max(x W + b, 0).
extern "C" __global__ void linear_relu_naive(const float* __restrict__ x, const float* __restrict__ W,
                                             const float* __restrict__ b, float* __restrict__ y, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += x[row * K + k] * W[k * N + col];
    sum = sum + b[col];
    y[row * N + col] = sum > 0.0f ? sum : 0.0f;
  }
}

// The bias first, then the products, tile by tile, and fmaxf.
extern "C" __global__ void linear_relu_tiled(const float* __restrict__ x, const float* __restrict__ W,
                                             const float* __restrict__ b, float* __restrict__ y, int M, int N, int K) {
  __shared__ float xs[16][16];
  __shared__ float ws[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = col < N ? b[col] : 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    xs[ty][tx] = row < M && k0 + tx < K ? x[row * K + k0 + tx] : 0.0f;
    ws[ty][tx] = col < N && k0 + ty < K ? W[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += xs[ty][k] * ws[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) y[row * N + col] = fmaxf(sum, 0.0f);
}

// y = A x, one thread for each row.
extern "C" __global__ void gemv_thread(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int M,
                                       int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * x[k];
    y[row] = sum;
  }
}

// One warp for each row, float4 loads. K is a multiple of four.
extern "C" __global__ void gemv_warp4(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int M,
                                      int K) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= M) return;
  const float4* a4 = (const float4*)(A + row * K);
  const float4* x4 = (const float4*)x;
  float sum = 0.0f;
  for (int i = lane; i < K / 4; i += 32) {
    float4 a = a4[i], v = x4[i];
    sum += a.x * v.x + a.y * v.y + a.z * v.z + a.w * v.w;
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0) y[row] = sum;
}

// One block for each row, sums of warps in shared memory.
extern "C" __global__ void gemv_block(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int M,
                                      int K) {
  __shared__ float part[4];
  int row = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = 0.0f;
  for (int k = threadIdx.x; k < K; k += 128) sum += A[row * K + k] * x[k];
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[row] = part[0] + part[1] + part[2] + part[3];
}

// Half-precision matrices, sums in float.
extern "C" __global__ void half_naive(const __half* __restrict__ A, const __half* __restrict__ B, float* __restrict__ C, int M,
                                      int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
    C[row * N + col] = sum;
  }
}

// Two columns for each thread, B in pairs.
extern "C" __global__ void half_pairs(const __half* __restrict__ A, const __half* __restrict__ B, float* __restrict__ C, int M,
                                      int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && pair < N / 2) {
    const __half2* a2 = (const __half2*)(A + row * K);
    const __half2* b2 = (const __half2*)B;
    float left = 0.0f, right = 0.0f;
    for (int k = 0; k < K / 2; k++) {
      float2 a = __half22float2(a2[k]);
      float2 b0 = __half22float2(b2[2 * k * (N / 2) + pair]);
      float2 b1 = __half22float2(b2[(2 * k + 1) * (N / 2) + pair]);
      left += a.x * b0.x + a.y * b1.x;
      right += a.x * b0.y + a.y * b1.y;
    }
    *(float2*)&C[row * N + 2 * pair] = make_float2(left, right);
  }
}

// x transpose(A) x for each x, in two ways: as a double sum, and with the off-diagonal terms taken together.
extern "C" __global__ void quadratic_naive(const float* __restrict__ A, const float* __restrict__ X, float* __restrict__ y, int n,
                                           int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float* x = X + i * n;
  float sum = 0.0f;
  for (int r = 0; r < n; r++) {
    float inner = 0.0f;
    for (int c = 0; c < n; c++) inner += A[r * n + c] * x[c];
    sum += inner * x[r];
  }
  y[i] = sum;
}

extern "C" __global__ void quadratic_paired(const float* __restrict__ A, const float* __restrict__ X, float* __restrict__ y,
                                            int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float* x = X + i * n;
  float sum = 0.0f;
  for (int r = 0; r < n; r++) {
    sum += A[r * n + r] * x[r] * x[r];
    for (int c = r + 1; c < n; c++) sum += (A[r * n + c] + A[c * n + r]) * (x[r] * x[c]);
  }
  y[i] = sum;
}
