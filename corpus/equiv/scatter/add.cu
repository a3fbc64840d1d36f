// Sums into places that a tensor says: atomic additions of many threads, one thread for each row that looks through all
// elements, and one thread that adds them in turn.

// A histogram with weights.
extern "C" __global__ void weights_atomic(const int *x, const float *v, float *acc, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&acc[x[i]], v[i]);
}
extern "C" __global__ void weights_row(const int *x, const float *v, float *acc, int n) {
  int r = threadIdx.x;
  float s = acc[r];
  for (int i = 0; i < n; i++)
    if (x[i] == r) s += v[i];
  acc[r] = s;
}
extern "C" __global__ void weights_one(const int *x, const float *v, float *acc, int n) {
  for (int i = 0; i < n; i++) acc[x[i]] += v[i];
}
// The row above.
extern "C" __global__ void weights_next(const int *x, const float *v, float *acc, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&acc[x[i] + 1], v[i]);
}
extern "C" __global__ void weights_twice(const int *x, const float *v, float *acc, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&acc[x[i]], v[i]);
  if (i == 0) atomicAdd(&acc[x[i]], v[i]);
}
// The last element is forgotten.
extern "C" __global__ void weights_short(const int *x, const float *v, float *acc, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) atomicAdd(&acc[x[i]], v[i]);
}

extern "C" __global__ void counts_atomic(const int *x, int *acc, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&acc[x[i]], 1);
}
extern "C" __global__ void counts_one(const int *x, int *acc, int n) {
  for (int i = 0; i < n; i++) acc[x[i]]++;
}
extern "C" __global__ void counts_one_from_second(const int *x, int *acc, int n) {
  for (int i = 1; i < n; i++) acc[x[i]]++;
}

// Counts of the lowest three bits, of any integers.
extern "C" __global__ void digits_atomic(const int *x, int *acc, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&acc[x[i] & 7], 1);
}
extern "C" __global__ void digits_row(const int *x, int *acc, int n) {
  int r = threadIdx.x, s = 0;
  for (int i = 0; i < n; i++)
    if ((x[i] & 7) == r) s++;
  acc[r] += s;
}
extern "C" __global__ void digits_one(const int *x, int *acc, int n) {
  for (int i = 0; i < n; i++) acc[x[i] & 7]++;
}
// The bits beside them.
extern "C" __global__ void digits_shifted(const int *x, int *acc, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&acc[x[i] >> 1 & 7], 1);
}

// The gradient of an embedding in which one token is padding.
extern "C" __global__ void padded_atomic(const int *x, const float *g, float *w, int n, int d, int pad) {
  int i = blockIdx.x, c = threadIdx.x;
  if (x[i] != pad) atomicAdd(&w[x[i] * d + c], g[i * d + c]);
}
extern "C" __global__ void padded_row(const int *x, const float *g, float *w, int n, int d, int pad) {
  int r = blockIdx.x, c = threadIdx.x;
  if (r == pad) return;
  float s = 0.0f;
  for (int i = 0; i < n; i++)
    if (x[i] == r) s += g[i * d + c];
  w[r * d + c] += s;
}
extern "C" __global__ void padded_one(const int *x, const float *g, float *w, int n, int d, int pad) {
  for (int i = 0; i < n; i++)
    if (x[i] != pad)
      for (int c = 0; c < d; c++) w[x[i] * d + c] += g[i * d + c];
}
// The padding counts, too.
extern "C" __global__ void padded_all(const int *x, const float *g, float *w, int n, int d, int pad) {
  int r = blockIdx.x, c = threadIdx.x;
  float s = 0.0f;
  for (int i = 0; i < n; i++)
    if (x[i] == r) s += g[i * d + c];
  w[r * d + c] += s;
}
