// Forward difference through a shared tile.
// Broken: the tile has one element per thread, but each thread reads its right neighbour:
// thread 127 of every block reads tile[128], one past the end (line 14).
#define BLOCK 128

extern "C" __global__ void forward_difference(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float tile[BLOCK];
  int t = threadIdx.x;
  int i = blockIdx.x * BLOCK + t;
  if (i <= n) tile[t] = x[i];
  __syncthreads();
  if (i < n) {
    float here = tile[t];
    float next = tile[t + 1];
    y[i] = next - here;
  }
}
