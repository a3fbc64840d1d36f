// Writes at places that tensors say, against loops over the elements that are written.

// One thread for each row.
extern "C" __global__ void rows(const float *x, const int *idx, float *out, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < d; j++) out[idx[i] * d + j] = x[i * d + j];
}

// One thread for each element.
extern "C" __global__ void rows_flat(const float *x, const int *idx, float *out, int n, int d) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n * d) out[idx[at / d] * d + at % d] = x[at];
}

// Four elements at a time, of rows of a multiple of four.
extern "C" __global__ void rows_wide(const float4 *x, const int *idx, float4 *out, int n, int d) {
  int i = blockIdx.x, quads = d / 4;
  for (int j = threadIdx.x; j < quads; j += blockDim.x) out[idx[i] * quads + j] = x[i * quads + j];
}

// The last row is missing.
extern "C" __global__ void rows_short(const float *x, const int *idx, float *out, int n, int d) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n * d - d) out[idx[at / d] * d + at % d] = x[at];
}

// The place of the next index.
extern "C" __global__ void rows_next(const float *x, const int *idx, float *out, int n, int d) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n * d) out[idx[(at / d + 1) % n] * d + at % d] = x[at];
}

// One thread, so that a later row hides an earlier one.
extern "C" __global__ void rows_one(const float *x, const int *idx, float *out, int n, int d) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < d; j++) out[idx[i] * d + j] = x[i * d + j];
}
extern "C" __global__ void rows_one_backwards(const float *x, const int *idx, float *out, int n, int d) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = 0; j < d; j++) out[idx[i] * d + j] = x[i * d + j];
}

// Seen from the rows that are written: the one that says so, if any.
extern "C" __global__ void rows_searched(const float *x, const int *idx, float *out, int n, int d, int rows) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= rows * d) return;
  float value = out[at];
  for (int i = 0; i < n; i++) value = idx[i] == at / d ? x[i * d + at % d] : value;
  out[at] = value;
}

extern "C" __global__ void marks(const int *idx, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[idx[i]] = 1;
}
extern "C" __global__ void marks_backwards(const int *idx, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[idx[n - 1 - i]] = 1;
}
extern "C" __global__ void marks_number(const int *idx, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[idx[i]] = i;
}

// Counts of numbers: a loop over them for each bin.
extern "C" __global__ void bins(const int *x, int *out, int n, int count) {
  int bin = blockIdx.x * blockDim.x + threadIdx.x;
  if (bin >= count) return;
  int sum = out[bin];
  for (int i = 0; i < n; i++) sum += x[i] == bin ? 1 : 0;
  out[bin] = sum;
}
extern "C" __global__ void bins_atomic(const int *x, int *out, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[x[i]], 1);
}
// Several numbers a thread.
extern "C" __global__ void bins_strided(const int *x, int *out, int n, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&out[x[i]], 1);
}
extern "C" __global__ void bins_first_twice(const int *x, int *out, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[x[i]], i == 0 ? 2 : 1);
}
extern "C" __global__ void bins_beyond(const int *x, int *out, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[x[i] + 1], 1);
}
// Somebody else's count may get lost.
extern "C" __global__ void bins_plain(const int *x, int *out, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[x[i]] = out[x[i]] + 1;
}
// For threads of its block alone.
extern "C" __global__ void bins_block(const int *x, int *out, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd_block(&out[x[i]], 1);
}

// The gradient of an embedding: rows of a table get the sum of what their tokens say.
extern "C" __global__ void gradient(const float *g, const int *idx, float *table, int n, int d, int rows) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= rows * d) return;
  float sum = table[at];
  for (int i = 0; i < n; i++)
    if (idx[i] == at / d) sum += g[i * d + at % d];
  table[at] = sum;
}
extern "C" __global__ void gradient_atomic(const float *g, const int *idx, float *table, int n, int d, int rows) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n * d) atomicAdd(&table[idx[at / d] * d + at % d], g[at]);
}
// Two columns a thread.
extern "C" __global__ void gradient_pairs(const float *g, const int *idx, float *table, int n, int d, int rows) {
  int i = blockIdx.x, row = idx[i];
  for (int j = 2 * threadIdx.x; j < d; j += 2 * blockDim.x) {
    atomicAdd(&table[row * d + j], g[i * d + j]);
    atomicAdd(&table[row * d + j + 1], g[i * d + j + 1]);
  }
}
extern "C" __global__ void gradient_double(const float *g, const int *idx, float *table, int n, int d, int rows) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n * d) atomicAdd(&table[idx[at / d] * d + at % d], at == 3 ? 2 * g[at] : g[at]);
}
extern "C" __global__ void gradient_column(const float *g, const int *idx, float *table, int n, int d, int rows) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n * d) atomicAdd(&table[idx[at / d] * d + (at + 1) % d], g[at]);
}

// The gradient of maximum pooling with windows that do not overlap: each maximum came from a place that is known.
extern "C" __global__ void unpool(const float *g, const long long *from, float *out, int channels, int pooled, int size) {
  for (int c = 0; c < channels; c++)
    for (int i = 0; i < pooled; i++) atomicAdd(&out[c * size + from[c * pooled + i]], g[c * pooled + i]);
}
extern "C" __global__ void unpool_flat(const float *g, const long long *from, float *out, int channels, int pooled, int size) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < channels * pooled) atomicAdd(&out[at / pooled * size + from[at]], g[at]);
}
extern "C" __global__ void unpool_channel(const float *g, const long long *from, float *out, int channels, int pooled, int size) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < channels * pooled) atomicAdd(&out[from[at]], g[at]);
}

// Reads what it has written.
extern "C" __global__ void rows_back(const float *x, const int *idx, float *out, int n, int d) {
  int i = threadIdx.x;
  if (i < n) out[idx[i]] = x[i];
  __syncthreads();
  if (i < n) out[i] += 1;
}

// A barrier between two writers: in order, which is not followed.
extern "C" __global__ void rows_in_turn(const float *x, const int *idx, float *out) {
  if (threadIdx.x == 0) out[idx[0]] = x[0];
  __syncthreads();
  if (threadIdx.x == 1) out[idx[1]] = x[1];
}
