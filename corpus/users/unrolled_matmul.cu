// expect: proved
// check: --grid 2,2 --block 8,8 --arg A=f32[256] --arg B=f32[256] --arg C=f32[256]:out --arg n=16
// Tiled product with unrolled inner loop.
#define TILE 8

//@ extent A[n*n], B[n*n], C[n*n];
//@ requires n >= 1 && n <= 30000 && n % TILE == 0 && blockDim.x == TILE && blockDim.y == TILE && gridDim.x*TILE == n && gridDim.y*TILE == n;
__global__ void matmul(const float* A, const float* B, float* C, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float acc = 0;
  for (int m = 0; m < n / TILE; ++m) {
    as[ty][tx] = A[row * n + m * TILE + tx];
    bs[ty][tx] = B[(m * TILE + ty) * n + col];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < TILE; ++k) acc += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = acc;
}
