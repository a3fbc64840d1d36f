// expect: refuted races line 16,17
// A tile is filled from a texture, and read before everybody has filled it: that a texture cannot race does not help the tile.
#define TILE 128

//@ extent out[n];
//@ requires n >= 1 && n <= 100000000 && blockDim.x == TILE && gridDim.x*blockDim.x <= 2147483647;
__global__ void smooth(float* out, cudaTextureObject_t signal, int n) {
  __shared__ float tile[TILE + 2];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int local = threadIdx.x + 1;
  // Neighbours outside are zero, which the fetch takes care of.
  if (threadIdx.x == 0) {
    tile[0] = tex1Dfetch<float>(signal, i - 1);
    tile[TILE + 1] = tex1Dfetch<float>(signal, i + TILE);
  }
  tile[local] = tex1Dfetch<float>(signal, i);
  if (i < n) out[i] = 0.25f * tile[local - 1] + 0.5f * tile[local] + 0.25f * tile[local + 1];
}
