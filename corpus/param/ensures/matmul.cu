// A matrix product in shared memory, with tiles of any size.
#ifndef T
#define T 16
#endif
//@ symbolic T;
//@ extent A[M*K], B[K*N], C[M*N];
//@ requires blockDim.x == T && blockDim.y == T && N == gridDim.x*T && M == gridDim.y*T && K % T == 0 && K >= 0;
//@ requires M*K <= 2147483647 && K*N <= 2147483647 && M*N <= 2147483647;
//@ ensures \forall int i, j; 0 <= i < M && 0 <= j < N ==> C[i*N + j] == \sum(k, 0, K, A[i*K + k]*B[k*N + j]);
__global__ void matmul(float* C, const float* A, const float* B, int M, int N, int K) {
  __shared__ float As[T][T], Bs[T][T];
  int row = blockIdx.y*T + threadIdx.y, col = blockIdx.x*T + threadIdx.x;
  float acc = 0;
  for (int m = 0; m < K/T; m++) {
    As[threadIdx.y][threadIdx.x] = A[row*K + m*T + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(m*T + threadIdx.y)*N + col];
    __syncthreads();
    for (int k = 0; k < T; k++) acc += As[threadIdx.y][k]*Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row*N + col] = acc;
}
