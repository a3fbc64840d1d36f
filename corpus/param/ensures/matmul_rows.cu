// Each thread computes R elements of a column of the product.
#define T 16
#define R 4
//@ extent A[M*K], B[K*N], C[M*N];
//@ requires blockDim.x == T && blockDim.y == T/R && N == gridDim.x*T && M == gridDim.y*T && K % T == 0 && K >= 0 && M*K <= 2147483647 && K*N <= 2147483647 && M*N <= 2147483647;
//@ ensures \forall int i, j; 0 <= i < M && 0 <= j < N ==> C[i*N+j] == \sum(k, 0, K, A[i*K+k]*B[k*N+j]);
__global__ void matmul_rows(float* C, const float* A, const float* B, int M, int N, int K) {
  __shared__ float As[T][T], Bs[T][T];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y*T + ty, col = blockIdx.x*T + tx;
  float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  for (int m = 0; m < K/T; m++) {
    for (int r = 0; r < T; r += T/R) {
      As[ty + r][tx] = A[(row + r)*K + m*T + tx];
      Bs[ty + r][tx] = B[(m*T + ty + r)*N + col];
    }
    __syncthreads();
    for (int k = 0; k < T; k++) {
      c0 += As[ty][k]*Bs[k][tx];
      c1 += As[ty + T/R][k]*Bs[k][tx];
      c2 += As[ty + 2*(T/R)][k]*Bs[k][tx];
      c3 += As[ty + 3*(T/R)][k]*Bs[k][tx];
    }
    __syncthreads();
  }
  C[row*N + col] = c0;
  C[(row + T/R)*N + col] = c1;
  C[(row + 2*(T/R))*N + col] = c2;
  C[(row + 3*(T/R))*N + col] = c3;
}
