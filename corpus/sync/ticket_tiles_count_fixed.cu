// What a block stores depends on how many tiles it took before: safe, but not deterministic.
extern "C" __global__ void ticket_tiles_count(const float *x, unsigned *count, float *out, int tiles) {
  __shared__ int next;
  int mine = 0;
  while (true) {
    if (threadIdx.x == 0) next = atomicAdd(count, 1);
    __syncthreads();
    int tile = next;
    __syncthreads();
    if (tile >= tiles) break;
    out[tile * blockDim.x + threadIdx.x] = x[threadIdx.x] + mine;
    mine++;
  }
}
