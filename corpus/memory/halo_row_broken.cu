// Five-point stencil along a row, through a shared tile with a halo of two on each side; zero beyond the ends.
// Broken: the left halo is filled, the right one is not. In every block thread 126 reads tile[130] (line 26) and thread
// 127 reads tile[130] (line 25) and tile[131] (line 26): never written, and the sum goes to y (line 27).
#define BLOCK 128
#define RADIUS 2

extern "C" __global__ void stencil(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float tile[BLOCK + 2 * RADIUS];
  int t = threadIdx.x;
  int i = blockIdx.x * BLOCK + t;
  int c = t + RADIUS;
  tile[c] = i < n ? x[i] : 0.0f;
  if (t < RADIUS) {
    int left = i - RADIUS;
    tile[t] = left >= 0 ? x[left] : 0.0f;


  }
  __syncthreads();
  if (i < n) {
    float sum = 0.0f;
    sum += tile[c - 2];
    sum += tile[c - 1];
    sum += 2.0f * tile[c];
    sum += tile[c + 1];
    sum += tile[c + 2];
    y[i] = sum;
  }
}
