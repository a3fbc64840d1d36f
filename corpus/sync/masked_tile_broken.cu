// Sum over tiles, skipping those whose flag is set; thread 0 reads the flag for all. The pattern of llama.cpp issue
// 13742.
// Broken: continue leaves out the barrier at the end of the round: after a skipped tile thread 0 writes the next flag
// (line 12) while others still read the last one (line 14). Tiles 1 and 2 are skipped here; the branch depends on data
// in skip, which the launch gives. Threads that see different flags part ways, so divergent barriers may follow.
extern "C" __global__ void masked(const float* __restrict__ x, const int* __restrict__ skip, float* __restrict__ y, int tiles) {
  __shared__ int flag;
  __shared__ float s[64];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < tiles; k++) {
    if (t == 0) flag = skip[k];
    __syncthreads();
    if (flag) continue;
    s[t] = x[k * 64 + t];
    __syncthreads();
    sum += s[63 - t];
    __syncthreads();
  }
  y[t] = sum;
}
