#define T 16

// C = A·B, a tile of C in each block, tiles of A and B in shared memory; sizes need not be multiples of the tile.
__global__ void matmul(const float* A, const float* B, float* C, int m, int n, int p) {
  __shared__ float a[T][T], b[T][T];
  int row = blockIdx.y*T + threadIdx.y, col = blockIdx.x*T + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < p; t += T) {
    a[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < p ? A[row*p + t + threadIdx.x] : 0.0f;
    b[threadIdx.y][threadIdx.x] = t + threadIdx.y < p && col < n ? B[(t + threadIdx.y)*n + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < T; k++) sum += a[threadIdx.y][k]*b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) C[row*n + col] = sum;
}
