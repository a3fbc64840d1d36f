// Bodies in tiles of a block.
//@ extent x[n], a[n], s[blockDim.x];
//@ requires n == gridDim.x*blockDim.x;
__global__ void nbody(const float* x, float* a, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  float acc = 0;
  for (int tile = 0; tile < gridDim.x; tile++) {
    s[threadIdx.x] = x[tile*blockDim.x + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < blockDim.x; j++) acc += s[j] - x[i];
    __syncthreads();  // before the next tile
  }
  a[i] = acc;
}
