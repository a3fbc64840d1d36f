// One thread for each element of the product.
//@ extent A[M*K], B[K*N], C[M*N];
//@ requires M >= 1 && N >= 1 && K >= 0 && M*K <= 2147483647 && K*N <= 2147483647 && M*N <= 2147483647;
//@ requires gridDim.x*blockDim.x >= N && gridDim.y*blockDim.y >= M;
//@ requires gridDim.x*blockDim.x <= 2147483647 && gridDim.y*blockDim.y <= 2147483647;
__global__ void matmul_naive(float* C, const float* A, const float* B, int M, int N, int K) {
  int row = blockIdx.y*blockDim.y + threadIdx.y, col = blockIdx.x*blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0;
    for (int k = 0; k < K; k++) acc += A[row*K + k]*B[k*N + col];
    C[row*N + col] = acc;
  }
}
