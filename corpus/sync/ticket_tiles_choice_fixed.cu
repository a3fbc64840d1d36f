// Blocks take tiles from a counter, and choose by comparisons of floats. What each element becomes does not depend on who took
// its tile.
extern "C" __global__ void ticket_tiles_choice(const float *x, unsigned *count, float *out, int tiles) {
  __shared__ int next;
  __shared__ float part[32];
  while (true) {
    if (threadIdx.x == 0) next = atomicAdd(count, 1);
    __syncthreads();
    int tile = next;
    float v = 0, sum = 0;
    if (tile < tiles) v = x[tile * blockDim.x + threadIdx.x];
    part[threadIdx.x] = v;
    __syncthreads();
    if (tile >= tiles) break;
    float most = -INFINITY;
    for (int i = 0; i < blockDim.x; i++) most = fmaxf(most, part[i]);
    float base = most == -INFINITY ? 0.0f : most;
    for (int i = 0; i < blockDim.x; i++) sum += exp2f((part[i] - base) * 1.44f);
    out[tile * blockDim.x + threadIdx.x] = (sum == 0 || sum != sum) ? 1.0f : v / sum;
  }
}
