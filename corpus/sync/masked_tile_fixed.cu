// Sum over tiles, skipping those whose flag is set; thread 0 reads the flag for all. The pattern of llama.cpp issue
// 13742.
// Fixed: a barrier after everybody has read the flag.
extern "C" __global__ void masked(const float* __restrict__ x, const int* __restrict__ skip, float* __restrict__ y, int tiles) {
  __shared__ int flag;
  __shared__ float s[64];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < tiles; k++) {
    if (t == 0) flag = skip[k];
    __syncthreads();
    bool skipped = flag;
    __syncthreads();
    if (skipped) continue;
    s[t] = x[k * 64 + t];
    __syncthreads();
    sum += s[63 - t];
    __syncthreads();
  }
  y[t] = sum;
}
