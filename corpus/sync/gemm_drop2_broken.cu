// C = A B with 16 by 16 tiles in shared memory.
// Broken: no barrier before the tiles are filled again: with the second and third tile a thread writes (lines 15 and
// 16) what others still read for the tile before (line 19).
#define SIDE 16

extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                int n, int k) {
  __shared__ float a[SIDE][SIDE];
  __shared__ float b[SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE + ty;
  int col = blockIdx.x * SIDE + tx;
  float sum = 0.0f;
  for (int base = 0; base < k; base += SIDE) {
    a[ty][tx] = A[row * k + base + tx];
    b[ty][tx] = B[(base + ty) * n + col];
    __syncthreads();
    for (int i = 0; i < SIDE; i++)
      sum += a[ty][i] * b[i][tx];
  }
  C[row * n + col] = sum;
}
