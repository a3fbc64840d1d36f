// Places that are data in shared memory and in local arrays.

// How many elements fall into each bin, a thread for each bin.
extern "C" __global__ void count_each(const int* x, unsigned* bins, int n) {
  int bin = threadIdx.x;
  unsigned count = 0;
  for (int i = 0; i < n; i++) count += x[i] == bin;
  bins[bin] += count;
}

// The same with counters in shared memory.
extern "C" __global__ void count_shared(const int* x, unsigned* bins, int n) {
  __shared__ unsigned counts[16];
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[x[i]], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

// The counters are read before all have counted.
extern "C" __global__ void count_early(const int* x, unsigned* bins, int n) {
  __shared__ unsigned counts[16];
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[x[i]], 1u);
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

// The neighbour's counter.
extern "C" __global__ void count_beside(const int* x, unsigned* bins, int n) {
  __shared__ unsigned counts[16];
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[x[i] ^ 1], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

// Values of a code book, from the tensor.
extern "C" __global__ void decode(const int* codes, const float* book, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = book[codes[i] & 15] * 0.5f;
}

// The same from a copy in shared memory.
extern "C" __global__ void decode_shared(const int* codes, const float* book, float* out, int n) {
  __shared__ float table[16];
  if (threadIdx.x < 16) table[threadIdx.x] = book[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[codes[i] & 15] * 0.5f;
}

// One element of the copy is another one's.
extern "C" __global__ void decode_swapped(const int* codes, const float* book, float* out, int n) {
  __shared__ float table[16];
  if (threadIdx.x < 16) table[threadIdx.x] = book[threadIdx.x == 15 ? 14 : threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[codes[i] & 15] * 0.5f;
}

// No barrier between the copy and its use.
extern "C" __global__ void decode_racing(const int* codes, const float* book, float* out, int n) {
  __shared__ float table[16];
  if (threadIdx.x < 16) table[threadIdx.x] = book[threadIdx.x];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[codes[i] & 15] * 0.5f;
}

// Rows of the pages of a cache, sizes that are powers of two.
extern "C" __global__ void pages(const float* cache, const int* block, float* out, int tokens) {
  for (int t = 0; t < tokens; t++)
    for (int c = 0; c < 8; c++) out[t * 8 + c] = cache[(block[t / 4] * 4 + t % 4) * 8 + c];
}

extern "C" __global__ void pages_flat(const float* cache, const int* block, float* out, int tokens) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tokens * 8) return;
  int t = i >> 3;
  out[i] = cache[(((block[t >> 2] << 2) | (t & 3)) << 3) | (i & 7)];
}

// The token's place in its page is lost.
extern "C" __global__ void pages_first(const float* cache, const int* block, float* out, int tokens) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tokens * 8) return;
  int t = i >> 3;
  out[i] = cache[((block[t >> 2] << 2) << 3) | (i & 7)];
}

// Rows by numbers that may count from the end.
extern "C" __global__ void from_end(const float* x, const int* idx, float* out, int n, int rows) {
  int i = threadIdx.x;
  if (i < n) out[i] = x[idx[i] < 0 ? idx[i] + rows : idx[i]];
}

extern "C" __global__ void from_end_masked(const float* x, const int* idx, float* out, int n, int rows) {
  int i = threadIdx.x;
  if (i < n) out[i] = x[idx[i] + ((idx[i] >> 31) & rows)];
}

// Counted from the start instead.
extern "C" __global__ void from_start(const float* x, const int* idx, float* out, int n, int rows) {
  int i = threadIdx.x;
  if (i < n) out[i] = x[idx[i] < 0 ? -1 - idx[i] : idx[i]];
}
