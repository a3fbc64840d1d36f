// Tiles of any size, matrices of any size: what sticks out is 0.
//@ symbolic T;
#define T 16
//@ extent A[M*K], B[K*N], C[M*N];
//@ requires blockDim.x == T && blockDim.y == T && M >= 1 && N >= 1 && K >= 0;
//@ requires M*K <= 2147483647 && K*N <= 2147483647 && M*N <= 2147483647 && K + T <= 2147483647;
//@ requires gridDim.x*T >= N && gridDim.y*T >= M && gridDim.x*T <= 2147483647 && gridDim.y*T <= 2147483647;
__global__ void matmul_ragged(float* C, const float* A, const float* B, int M, int N, int K) {
  __shared__ float As[T][T], Bs[T][T];
  int row = blockIdx.y*T + threadIdx.y, col = blockIdx.x*T + threadIdx.x;
  float acc = 0;
  for (int m = 0; m < (K + T - 1)/T; m++) {
    int ka = m*T + threadIdx.x, kb = m*T + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < M && ka < K ? A[row*K + ka] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = kb < K && col < N ? B[kb*N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < T; k++) acc += As[threadIdx.y][k]*Bs[k][threadIdx.x];
    __syncthreads();  // before the next tiles
  }
  if (row < M && col < N) C[row*N + col] = acc;
}
