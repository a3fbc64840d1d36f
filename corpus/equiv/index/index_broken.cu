// Kernels of index.cu with a mistake.

extern "C" __global__ void next_row(const float* table, const int* idx, float* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  int i = t / d;
  out[t] = table[idx[i + 1 < n ? i + 1 : i] * d + t % d];
}

extern "C" __global__ void transposed(const float* table, const int* idx, float* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  out[t] = table[t % d * d + idx[t / d]];
}

extern "C" __global__ void shifted(const float* table, const int* idx, float* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  out[t] = table[idx[t / d] * d + (t + 1) % d];
}

extern "C" __global__ void masked(const float* table, const int* idx, float* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  out[t] = table[(idx[t / d] & 7) * d + t % d];
}

extern "C" __global__ void reversed(const float* table, const int* idx, float* out, int n, int d, int rows) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  out[t] = table[(rows - 1 - idx[t / d]) * d + t % d];
}

extern "C" __global__ void once(const float* table, const int* first, const int* second, float* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  out[t] = table[first[t / d] * d + t % d];
}

extern "C" __global__ void embed_unscaled(const float* table, const float* pos, const int* idx, float* out, int n, int d, float scale) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  out[t] = scale * (pos[t] + table[idx[t / d] * d + t % d]);
}

extern "C" __global__ void bag_short(const float* table, const int* idx, float* out, int k, int d) {
  int b = blockIdx.x;
  for (int j = threadIdx.x; j < d; j += blockDim.x) {
    float sum = 0.0f;
    for (int i = 1; i < k; i++) sum += table[idx[b * k + i] * d + j];
    out[b * d + j] = sum + table[idx[b * k + 1] * d + j];
  }
}

extern "C" __global__ void paged_first(const float* q, const float* pages, const int* table, float* out, int keys, int page, int d) {
  int k = blockIdx.x;
  const float* own = pages + (size_t)table[0] * page * d + k % page * d;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < d; j += 32) sum += q[j] * own[j];
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x == 0) out[k] = sum;
}

extern "C" __global__ void routed_swapped(const float* x, const float* w, const int* token, const int* expert, float* out, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = t / d, j = t % d;
  out[t] = w[token[i] % 2 * d + j] * x[expert[i] * d + j];
}
