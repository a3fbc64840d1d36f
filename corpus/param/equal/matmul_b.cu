// Tiles of any size through shared memory.
//@ symbolic T;
#define T 16
//@ extent A[M*K], B[K*N], C[M*N];
//@ requires blockDim.x == T && blockDim.y == T && N == gridDim.x*T && M == gridDim.y*T;
//@ requires K % T == 0 && K >= 0 && M*K <= 2147483647 && K*N <= 2147483647 && M*N <= 2147483647;
__global__ void matmul(float* C, const float* A, const float* B, int M, int N, int K) {
  __shared__ float As[T][T], Bs[T][T];
  int row = blockIdx.y*T + threadIdx.y, col = blockIdx.x*T + threadIdx.x;
  float acc = 0;
  for (int m = 0; m < K/T; m++) {
    As[threadIdx.y][threadIdx.x] = A[row*K + m*T + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(m*T + threadIdx.y)*N + col];
    __syncthreads();
    for (int k = 0; k < T; k++) acc += As[threadIdx.y][k]*Bs[k][threadIdx.x];
    __syncthreads();  // before the next tiles
  }
  C[row*N + col] = acc;
}
