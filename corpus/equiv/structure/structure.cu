// Products with matrices of which a part is zero or said twice: kernels that read all of it against kernels that do not.
#include <cuda_fp16.h>
#include <mma.h>

// C = A B, A of n rows and k columns, B of m columns: one thread for each element.
extern "C" __global__ void product(const float *A, const float *B, float *C, int n, int k, int m) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / m, j = at % m;
  if (i >= n) return;
  float sum = 0;
  for (int p = 0; p < k; p++) sum += A[i * k + p] * B[p * m + j];
  C[at] = sum;
}

// Columns up to the diagonal.
extern "C" __global__ void product_lower(const float *A, const float *B, float *C, int n, int k, int m) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / m, j = at % m;
  if (i >= n) return;
  float sum = 0;
  for (int p = 0; p <= i && p < k; p++) sum += A[i * k + p] * B[p * m + j];
  C[at] = sum;
}

// The diagonal is left out.
extern "C" __global__ void product_below(const float *A, const float *B, float *C, int n, int k, int m) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / m, j = at % m;
  if (i >= n) return;
  float sum = 0;
  for (int p = 0; p < i && p < k; p++) sum += A[i * k + p] * B[p * m + j];
  C[at] = sum;
}

// One column more than needed.
extern "C" __global__ void product_beside(const float *A, const float *B, float *C, int n, int k, int m) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / m, j = at % m;
  if (i >= n) return;
  float sum = 0;
  for (int p = 0; p <= i + 1 && p < k; p++) sum += A[i * k + p] * B[p * m + j];
  C[at] = sum;
}

// Columns from the diagonal on, the last one first.
extern "C" __global__ void product_upper(const float *A, const float *B, float *C, int n, int k, int m) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / m, j = at % m;
  if (i >= n) return;
  float sum = 0;
  for (int p = k - 1; p >= i; p--) sum += A[i * k + p] * B[p * m + j];
  C[at] = sum;
}

// Rows of a matrix that lie `lead` elements apart, up to the diagonal.
extern "C" __global__ void product_lead(const float *A, const float *B, float *C, int n, int lead, int m) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / m, j = at % m;
  if (i >= n) return;
  float sum = 0;
  for (int p = 0; p <= i; p++) sum += A[i * lead + p] * B[p * m + j];
  C[at] = sum;
}

// The same of a matrix whose columns lie `lead` elements apart.
extern "C" __global__ void product_columns(const float *A, const float *B, float *C, int n, int lead, int m) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / m, j = at % m;
  if (i >= n) return;
  float sum = 0;
  for (int p = 0; p <= i; p++) sum += A[p * lead + i] * B[p * m + j];
  C[at] = sum;
}

// Tiles of four by four in shared memory; those above the diagonal are skipped.
extern "C" __global__ void product_tiles(const float *A, const float *B, float *C, int n, int m) {
  __shared__ float a[4][4], b[4][4];
  int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 4 + y, j = blockIdx.x * 4 + x;
  float sum = 0;
  for (int tile = 0; tile <= blockIdx.y; tile++) {
    a[y][x] = A[i * n + tile * 4 + x];
    b[y][x] = B[(tile * 4 + y) * m + j];
    __syncthreads();
    for (int p = 0; p < 4; p++) sum += a[y][p] * b[p][x];
    __syncthreads();
  }
  C[i * m + j] = sum;
}

// The tile on the diagonal is skipped too.
extern "C" __global__ void product_tiles_short(const float *A, const float *B, float *C, int n, int m) {
  __shared__ float a[4][4], b[4][4];
  int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 4 + y, j = blockIdx.x * 4 + x;
  float sum = 0;
  for (int tile = 0; tile < blockIdx.y; tile++) {
    a[y][x] = A[i * n + tile * 4 + x];
    b[y][x] = B[(tile * 4 + y) * m + j];
    __syncthreads();
    for (int p = 0; p < 4; p++) sum += a[y][p] * b[p][x];
    __syncthreads();
  }
  C[i * m + j] = sum;
}

// A batch of products.
extern "C" __global__ void batch(const float *A, const float *x, float *y, int n) {
  int at = blockIdx.x * n * n, i = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < n; p++) sum += A[at + i * n + p] * x[blockIdx.x * n + p];
  y[blockIdx.x * n + i] = sum;
}

extern "C" __global__ void batch_upper(const float *A, const float *x, float *y, int n) {
  int at = blockIdx.x * n * n, i = threadIdx.x;
  float sum = 0;
  for (int p = i; p < n; p++) sum += A[at + i * n + p] * x[blockIdx.x * n + p];
  y[blockIdx.x * n + i] = sum;
}

// The half of the matrix that belongs to the other index.
extern "C" __global__ void batch_half(const float *A, const float *x, float *y, int n) {
  int at = blockIdx.x * n * n, i = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < n; p++) {
    int row = p < i ? i : p, column = p < i ? p : i;
    sum += A[at + row * n + column] * x[blockIdx.x * n + p];
  }
  y[blockIdx.x * n + i] = sum;
}

// The half of the first matrix, for all of them.
extern "C" __global__ void batch_first(const float *A, const float *x, float *y, int n) {
  int at = blockIdx.x * n * n, i = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < n; p++) sum += A[p < i ? p * n + i : at + i * n + p] * x[blockIdx.x * n + p];
  y[blockIdx.x * n + i] = sum;
}

// Columns instead of rows.
extern "C" __global__ void batch_columns(const float *A, const float *x, float *y, int n) {
  int at = blockIdx.x * n * n, i = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < n; p++) sum += A[at + p * n + i] * x[blockIdx.x * n + p];
  y[blockIdx.x * n + i] = sum;
}

// The lower half twice, so that the diagonal counts twice.
extern "C" __global__ void batch_diagonal(const float *A, const float *x, float *y, int n) {
  int at = blockIdx.x * n * n, i = threadIdx.x;
  float sum = 0;
  for (int p = 0; p <= i; p++) sum += A[at + i * n + p] * x[blockIdx.x * n + p];
  for (int p = i; p < n; p++) sum += A[at + p * n + i] * x[blockIdx.x * n + p];
  y[blockIdx.x * n + i] = sum;
}

// The form xᵀ A x, one thread.
extern "C" __global__ void form(const float *A, const float *x, float *y, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += x[i] * A[i * n + j] * x[j];
  y[0] = sum;
}

extern "C" __global__ void form_half(const float *A, const float *x, float *y, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * A[i * n + i] * x[i];
    for (int j = 0; j < i; j++) sum += 2 * x[i] * A[i * n + j] * x[j];
  }
  y[0] = sum;
}

// S = A Aᵀ.
extern "C" __global__ void square(const float *A, float *S, int n) {
  int i = threadIdx.y, j = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < n; p++) sum += A[i * n + p] * A[j * n + p];
  S[i * n + j] = sum;
}

// S = A A.
extern "C" __global__ void power(const float *A, float *S, int n) {
  int i = threadIdx.y, j = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < n; p++) sum += A[i * n + p] * A[p * n + j];
  S[i * n + j] = sum;
}

// L x, of the x that solves L x = b by substitution.
extern "C" __global__ void solved(const float *L, const float *b, float *y, int n) {
  float x[4];
  for (int i = 0; i < n; i++) {
    float sum = b[i];
    for (int p = 0; p < i; p++) sum -= L[i * n + p] * x[p];
    x[i] = sum / L[i * n + i];
  }
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int p = 0; p < n; p++) sum += L[i * n + p] * x[p];
    y[i] = sum;
  }
}

extern "C" __global__ void copied(const float *L, const float *b, float *y, int n) {
  for (int i = 0; i < n; i++) y[i] = b[i];
}

// Blocks of two by two: those that the mask keeps are on the diagonal and two further on.
extern "C" __global__ void blocks(const float *A, const float *B, float *C, int n, int m) {
  int i = threadIdx.x / m, j = threadIdx.x % m;
  float sum = 0;
  for (int block = i / 2 % 2; block < n / 2; block += 2)
    for (int p = 2 * block; p < 2 * block + 2; p++) sum += A[i * n + p] * B[p * m + j];
  C[threadIdx.x] = sum;
}

// The other blocks.
extern "C" __global__ void blocks_other(const float *A, const float *B, float *C, int n, int m) {
  int i = threadIdx.x / m, j = threadIdx.x % m;
  float sum = 0;
  for (int block = 1 - i / 2 % 2; block < n / 2; block += 2)
    for (int p = 2 * block; p < 2 * block + 2; p++) sum += A[i * n + p] * B[p * m + j];
  C[threadIdx.x] = sum;
}

// The last block of a row is forgotten.
extern "C" __global__ void blocks_short(const float *A, const float *B, float *C, int n, int m) {
  int i = threadIdx.x / m, j = threadIdx.x % m;
  float sum = 0;
  for (int block = i / 2 % 2; block < n / 2 - 2; block += 2)
    for (int p = 2 * block; p < 2 * block + 2; p++) sum += A[i * n + p] * B[p * m + j];
  C[threadIdx.x] = sum;
}

// Halves, two at a time: the pair on the diagonal has a zero in some rows.
extern "C" __global__ void halves(const __half2 *A, const __half *x, float *y, int n) {
  int i = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < n / 2; p++) {
    float2 pair = __half22float2(A[i * (n / 2) + p]);
    sum += pair.x * __half2float(x[2 * p]) + pair.y * __half2float(x[2 * p + 1]);
  }
  y[i] = sum;
}

// Halves one by one, up to the diagonal.
extern "C" __global__ void halves_lower(const __half *A, const __half *x, float *y, int n) {
  int i = threadIdx.x;
  float sum = 0;
  for (int p = 0; p <= i; p++) sum += __half2float(A[i * n + p]) * __half2float(x[p]);
  y[i] = sum;
}

// The diagonal is left out.
extern "C" __global__ void halves_below(const __half *A, const __half *x, float *y, int n) {
  int i = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < i; p++) sum += __half2float(A[i * n + p]) * __half2float(x[p]);
  y[i] = sum;
}

// Bytes, four at a time.
extern "C" __global__ void bytes(const int *A, const int *x, int *y, int n) {
  int i = threadIdx.x, sum = 0;
  for (int p = 0; p < n / 4; p++) sum = __dp4a(A[i * (n / 4) + p], x[p], sum);
  y[i] = sum;
}

// Bytes one by one, from the diagonal on.
extern "C" __global__ void bytes_upper(const signed char *A, const signed char *x, int *y, int n) {
  int i = threadIdx.x, sum = 0;
  for (int p = i; p < n; p++) sum += A[i * n + p] * x[p];
  y[i] = sum;
}

// Bytes one by one, from behind the diagonal on.
extern "C" __global__ void bytes_above(const signed char *A, const signed char *x, int *y, int n) {
  int i = threadIdx.x, sum = 0;
  for (int p = i + 1; p < n; p++) sum += A[i * n + p] * x[p];
  y[i] = sum;
}

// Doubles all elements.
extern "C" __global__ void twice(float *A, int n) {
  int at = threadIdx.x;
  A[at] = 2 * A[at];
}

// Doubles the lower half and leaves the other.
extern "C" __global__ void twice_lower(float *A, int n) {
  int i = threadIdx.x / n, j = threadIdx.x % n;
  if (j <= i) A[threadIdx.x] += A[threadIdx.x];
}

// Writes the lower half into the upper one.
extern "C" __global__ void twice_mirrored(float *A, int n) {
  int i = threadIdx.x / n, j = threadIdx.x % n;
  if (j > i) return;
  float value = 2 * A[i * n + j];
  A[i * n + j] = value;
  A[j * n + i] = value;
}

// Rows that an index chooses.
extern "C" __global__ void rows(const float *x, const int *idx, float *y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = x[idx[threadIdx.x]];
}

// Every second index is known to be zero.
extern "C" __global__ void rows_masked(const float *x, const int *idx, float *y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = threadIdx.x % 2 ? x[0] : x[idx[threadIdx.x]];
}

// Probabilities that a causal mask has made zero, times values, with a warp for each row.
extern "C" __global__ void attend(const float *P, const float *V, float *O, int n, int d) {
  int i = blockIdx.x;
  for (int j = 0; j < d; j++) {
    float sum = 0;
    for (int p = threadIdx.x; p <= i; p += 32) sum += P[i * n + p] * V[p * d + j];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x == 0) O[i * d + j] = sum;
  }
}

// Sums at places that an index says.
extern "C" __global__ void sums(const float *g, const int *idx, float *y, int n) {
  if (threadIdx.x < n) atomicAdd(&y[idx[threadIdx.x]], g[threadIdx.x]);
}

// Every second number is known to be zero.
extern "C" __global__ void sums_masked(const float *g, const int *idx, float *y, int n) {
  if (threadIdx.x < n && threadIdx.x % 2 == 0) atomicAdd(&y[idx[threadIdx.x]], g[threadIdx.x]);
}

// Sixteen by sixteen halves, up to the diagonal.
extern "C" __global__ void tile_lower(const __half *A, const __half *B, float *C) {
  for (int i = threadIdx.x / 16, j = threadIdx.x % 16; i < 16; i += 2) {
    float sum = 0;
    for (int p = 0; p <= i; p++) sum += __half2float(A[i * 16 + p]) * __half2float(B[p * 16 + j]);
    C[i * 16 + j] = sum;
  }
}

// Sixteen by sixteen halves, below the diagonal.
extern "C" __global__ void tile_below(const __half *A, const __half *B, float *C) {
  for (int i = threadIdx.x / 16, j = threadIdx.x % 16; i < 16; i += 2) {
    float sum = 0;
    for (int p = 0; p < i; p++) sum += __half2float(A[i * 16 + p]) * __half2float(B[p * 16 + j]);
    C[i * 16 + j] = sum;
  }
}

// The same with tensor cores, zeros and all, by way of shared memory.
extern "C" __global__ void tile_tensor(const __half *A, const __half *B, float *C) {
  using namespace nvcuda::wmma;
  __shared__ __align__(128) __half tile[256];
  for (int p = threadIdx.x; p < 32; p += 32) ((uint4 *)tile)[p] = ((const uint4 *)A)[p];
  __syncwarp();
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, row_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0f);
  load_matrix_sync(a, tile, 16);
  load_matrix_sync(b, B, 16);
  mma_sync(c, a, b, c);
  store_matrix_sync(C, c, 16, mem_row_major);
}
