// C = A B with two pairs of tiles in shared memory: the next tiles are filled while the present ones are multiplied,
// one barrier for each tile.
// Broken: no barrier at the end of a round: tiles that others fill (lines 21 and 22) are read at once in the next
// round, and the ones being read are filled again (line 25).
#define SIDE 16

extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                int n, int k) {
  __shared__ float a[2][SIDE][SIDE];
  __shared__ float b[2][SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE + ty;
  int col = blockIdx.x * SIDE + tx;
  int now = 0;
  float sum = 0.0f;
  a[0][ty][tx] = A[row * k + tx];
  b[0][ty][tx] = B[ty * n + col];
  __syncthreads();
  for (int base = SIDE; base <= k; base += SIDE) {
    if (base < k) {
      a[1 - now][ty][tx] = A[row * k + base + tx];
      b[1 - now][ty][tx] = B[(base + ty) * n + col];
    }
    for (int i = 0; i < SIDE; i++)
      sum += a[now][ty][i] * b[now][i][tx];
    now = 1 - now;
  }
  C[row * n + col] = sum;
}
