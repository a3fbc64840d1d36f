// expect: proved
// A tile with a halo is filled from a texture; neighbours outside are zero, which the fetch takes care of.
#define TILE 128

//@ extent out[n];
//@ requires n >= 1 && n <= 100000000 && blockDim.x == TILE && gridDim.x*blockDim.x <= 2147483647 - TILE;
__global__ void smooth(float* out, cudaTextureObject_t signal, int n) {
  __shared__ float tile[TILE + 2];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int local = threadIdx.x + 1;
  if (threadIdx.x == 0) {
    tile[0] = tex1Dfetch<float>(signal, i - 1);
    tile[TILE + 1] = tex1Dfetch<float>(signal, i + TILE);
  }
  tile[local] = tex1Dfetch<float>(signal, i);
  __syncthreads();
  if (i < n) out[i] = 0.25f * tile[local - 1] + 0.5f * tile[local] + 0.25f * tile[local + 1];
}
