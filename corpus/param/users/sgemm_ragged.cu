#define BM 16
//@ extent A[M*K], B[K*N], C[M*N];
//@ requires blockDim.x == BM && blockDim.y == BM && M >= 1 && N >= 1 && K >= 1;
//@ requires M*K <= 2147483647 && K*N <= 2147483647 && M*N <= 2147483647;
//@ requires gridDim.x*BM <= 2147483647 && K <= 2147483600;
__global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  __shared__ float As[BM][BM];
  __shared__ float Bs[BM][BM];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * BM + ty;
  const int col = blockIdx.x * BM + tx;
  float acc = 0.0f;
  for (int k0 = 0; k0 < K; k0 += BM) {
    As[ty][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < BM; ++k) acc += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = alpha * acc + beta * C[row * N + col];
}
