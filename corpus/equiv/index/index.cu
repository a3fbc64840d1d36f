// Contents decide addresses: rows of a table by numbers that are data.

// rows of a table, a thread for each row
extern "C" __global__ void rows(const float* table, const int* idx, float* out, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < d; j++) out[i * d + j] = table[idx[i] * d + j];
}

// a thread for each element
extern "C" __global__ void flat(const float* table, const int* idx, float* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  out[t] = table[(size_t)idx[t / d] * d + t % d];
}

// four elements at once
extern "C" __global__ void vec4(const float4* table, const int* idx, float4* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d / 4) return;
  out[t] = table[idx[t / (d / 4)] * (d / 4) + t % (d / 4)];
}

// the numbers are staged in shared memory
extern "C" __global__ void staged(const float* table, const int* idx, float* out, int n, int d) {
  __shared__ int s[64];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = idx[i];
  __syncthreads();
  for (int t = threadIdx.x; t < n * d; t += blockDim.x) out[t] = table[s[t / d] * d + t % d];
}

// numbers that are checked first
extern "C" __global__ void checked(const float* table, const int* idx, float* out, int n, int d, int rows) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  int row = idx[t / d];
  if (row < 0 || row >= rows) { out[t] = 0.0f; return; }
  out[t] = table[row * d + t % d];
}

// numbers that are clamped to the table
extern "C" __global__ void clamped(const float* table, const int* idx, float* out, int n, int d, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int row = min(max(idx[i], 0), rows - 1);
  for (int j = 0; j < d; j++) out[i * d + j] = table[row * d + j];
}

extern "C" __global__ void clamped_flat(const float* table, const int* idx, float* out, int n, int d, int rows) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  int row = max(min(idx[t / d], rows - 1), 0);
  out[t] = table[(long long)row * d + t % d];
}

// 64-bit numbers
extern "C" __global__ void wide(const float* table, const long long* idx, float* out, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < d; j++) out[i * d + j] = table[idx[i] * d + j];
}

extern "C" __global__ void wide_flat(const float* table, const long long* idx, float* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  out[t] = table[(int)idx[t / d] * d + t % d];
}

// a row of a row: numbers that numbers point to
extern "C" __global__ void twice(const float* table, const int* first, const int* second, float* out, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < d; j++) out[i * d + j] = table[second[first[i]] * d + j];
}

extern "C" __global__ void twice_flat(const float* table, const int* first, const int* second, float* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  out[t] = table[second[first[t / d]] * d + t % d];
}

// token and position embedding, scaled
extern "C" __global__ void embed(const float* table, const float* pos, const int* idx, float* out, int n, int d, float scale) {
  int i = blockIdx.x;
  for (int j = threadIdx.x; j < d; j += blockDim.x) out[i * d + j] = table[idx[i] * d + j] * scale + pos[i * d + j];
}

extern "C" __global__ void embed_flat(const float* table, const float* pos, const int* idx, float* out, int n, int d, float scale) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * d) return;
  out[t] = pos[t] + scale * table[idx[t / d] * d + t % d];
}

// a bag of rows: their sum
extern "C" __global__ void bag(const float* table, const int* idx, float* out, int k, int d) {
  int b = blockIdx.x;
  for (int j = threadIdx.x; j < d; j += blockDim.x) {
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += table[idx[b * k + i] * d + j];
    out[b * d + j] = sum;
  }
}

extern "C" __global__ void bag_backwards(const float* table, const int* idx, float* out, int k, int d) {
  int b = blockIdx.x;
  for (int j = threadIdx.x; j < d; j += blockDim.x) {
    float even = 0.0f, odd = 0.0f;
    for (int i = k - 1; i >= 0; i--) {
      float x = table[idx[b * k + i] * d + j];
      if (i % 2) odd += x; else even += x;
    }
    out[b * d + j] = even + odd;
  }
}

// scores of a query with keys in pages
extern "C" __global__ void paged(const float* q, const float* pages, const int* table, float* out, int keys, int page, int d) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= keys) return;
  float sum = 0.0f;
  for (int j = 0; j < d; j++) sum += q[j] * pages[(table[k / page] * page + k % page) * d + j];
  out[k] = sum;
}

extern "C" __global__ void paged_warp(const float* q, const float* pages, const int* table, float* out, int keys, int page, int d) {
  int k = blockIdx.x;
  const float* own = pages + (size_t)table[k / page] * page * d + k % page * d;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < d; j += 32) sum += q[j] * own[j];
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x == 0) out[k] = sum;
}

// tokens of experts: rows in the order that routing chose
extern "C" __global__ void routed(const float* x, const float* w, const int* token, const int* expert, float* out, int d) {
  int i = blockIdx.x;
  for (int j = threadIdx.x; j < d; j += blockDim.x) out[i * d + j] = x[token[i] * d + j] * w[expert[i] * d + j];
}

extern "C" __global__ void routed_flat(const float* x, const float* w, const int* token, const int* expert, float* out, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = t / d, j = t % d;
  const float* row = x + token[i] * d;
  const float* weights = w + expert[i] * d;
  out[t] = weights[j] * row[j];
}
