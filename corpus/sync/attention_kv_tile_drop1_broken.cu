// One query for each thread, keys and values in tiles of shared memory, softmax on the fly. The pattern of llama.cpp
// pull request 13438.
// Broken: no barrier between filling (line 12) and reading (line 15) the tile; one warp alone is no lock-step.
#define ROWS 8
#define D 4

extern "C" __global__ void attention(const float* __restrict__ q, const float* __restrict__ kv, float* __restrict__ o, int tiles) {
  __shared__ float tile[ROWS][D];
  int t = threadIdx.x;
  float acc[D] = {}, sum = 0.0f;
  for (int k = 0; k < tiles; k++) {
    tile[t / D][t % D] = kv[k * ROWS * D + t];
    for (int r = 0; r < ROWS; r++) {
      float dot = 0.0f;
      for (int d = 0; d < D; d++) dot += q[t * D + d] * tile[r][d];
      float e = __expf(dot);
      sum += e;
      for (int d = 0; d < D; d++) acc[d] += e * tile[r][d];
    }
    __syncthreads();
  }
  for (int d = 0; d < D; d++) o[t * D + d] = acc[d] / sum;
}
