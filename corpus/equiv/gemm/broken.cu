// Matrix products with a mistake; what is wrong stands above each.

// A is read by columns: right for a square, symmetric A alone.
extern "C" __global__ void swapped_index(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                         int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[k * M + row] * B[k * N + col];
    C[row * N + col] = sum;
  }
}

// The last of the K products is left out.
extern "C" __global__ void short_sum(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                     int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K - 1; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}

// What is left of K after the last whole tile is forgotten.
extern "C" __global__ void lost_tail(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                     int N, int K) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K / 16 * 16; k0 += 16) {
    As[ty][tx] = row < M ? A[row * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = col < N ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

// Beyond the end of K the last element is read once more, where there should be zeros.
extern "C" __global__ void clamped_tail(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                        int N, int K) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  int r = min(row, M - 1), c = min(col, N - 1);
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[ty][tx] = A[r * K + min(k0 + tx, K - 1)];
    Bs[ty][tx] = B[min(k0 + ty, K - 1) * N + c];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

// Only the block in the last row and column of blocks is wrong: its inner products start at 1.
extern "C" __global__ void one_block(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                     int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int from = blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = from; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}

// The barrier before the tiles are filled anew is missing: a race.
extern "C" __global__ void no_second_barrier(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                             int M, int N, int K) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

// The asynchronous copies of a tile are not waited for: a race.
__device__ __forceinline__ void copy1(float* to, const float* from) {
  unsigned s = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(s), "l"(from) : "memory");
}

extern "C" __global__ void no_wait(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                   int K) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    copy1(&As[ty][tx], &A[row * K + k0 + tx]);
    copy1(&Bs[ty][tx], &B[(k0 + ty) * N + col]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  C[row * N + col] = sum;
}

// Two pairs of tiles, but always the first pair is multiplied.
extern "C" __global__ void stale_buffer(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                        int N, int K) {
  __shared__ float As[2][16][16];
  __shared__ float Bs[2][16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  As[0][ty][tx] = A[row * K + tx];
  Bs[0][ty][tx] = B[ty * N + col];
  __syncthreads();
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    if (k0 + 16 < K) {
      As[1][ty][tx] = A[row * K + k0 + 16 + tx];
      Bs[1][ty][tx] = B[(k0 + 16 + ty) * N + col];
    }
    for (int k = 0; k < 16; k++) sum += As[0][ty][k] * Bs[0][k][tx];
    __syncthreads();
  }
  C[row * N + col] = sum;
}

// The columns of the tile of B are exchanged when it is filled, not when it is read.
extern "C" __global__ void half_swizzle(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                        int N, int K) {
  __shared__ float As[256];
  __shared__ float Bs[256];
  int t = threadIdx.x, tx = t & 15, ty = t >> 4;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[ty * 16 + (tx ^ ty)] = A[row * K + k0 + tx];
    Bs[tx * 16 + (ty ^ tx)] = B[(k0 + ty) * N + col];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += As[ty * 16 + (k ^ ty)] * Bs[tx * 16 + k];
    __syncthreads();
  }
  C[row * N + col] = sum;
}

// The parts of two neighbouring blocks overlap by one element.
extern "C" __global__ void split_k_overlap(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N,
                                           int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int share = (K + gridDim.z - 1) / gridDim.z;
  int from = blockIdx.z * share, to = min(from + share + 1, K);
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = from; k < to; k++) sum += A[row * K + k] * B[k * N + col];
    atomicAdd(&C[row * N + col], sum);
  }
}

// Parts of inner products of different blocks are stored where they should be added: a race between blocks.
extern "C" __global__ void split_k_store(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int share = (K + gridDim.z - 1) / gridDim.z;
  int from = blockIdx.z * share, to = min(from + share, K);
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = from; k < to; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] += sum;
  }
}

// beta is forgotten.
extern "C" __global__ void sgemm_no_beta(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K,
                                         float alpha, float beta) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * sum + C[row * N + col];
  }
}

// alpha goes to beta C too.
extern "C" __global__ void sgemm_alpha_twice(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N,
                                             int K, float alpha, float beta) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = beta * C[row * N + col];
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * sum;
  }
}

// The clamp at zero is forgotten.
extern "C" __global__ void linear_no_relu(const float* __restrict__ x, const float* __restrict__ W, const float* __restrict__ b,
                                          float* __restrict__ y, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = b[col];
    for (int k = 0; k < K; k++) sum += x[row * K + k] * W[k * N + col];
    y[row * N + col] = sum;
  }
}

// The bias of the row, not of the column.
extern "C" __global__ void linear_row_bias(const float* __restrict__ x, const float* __restrict__ W, const float* __restrict__ b,
                                           float* __restrict__ y, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = b[row];
    for (int k = 0; k < K; k++) sum += x[row * K + k] * W[k * N + col];
    y[row * N + col] = fmaxf(sum, 0.0f);
  }
}

// The last column is not written.
extern "C" __global__ void unwritten_column(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                            int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N - 1) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}

// Nothing but zeros.
extern "C" __global__ void zeros(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                 int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) C[row * N + col] = 0.0f;
}

// The last step of the shuffle tree is left out: the odd lanes' parts are lost.
extern "C" __global__ void gemv_lost_lanes(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int M,
                                           int K) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= M) return;
  float sum = 0.0f;
  for (int k = lane; k < K; k += 32) sum += A[row * K + k] * x[k];
  for (int o = 16; o > 1; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0) y[row] = sum;
}

// A sign is wrong in the fourth element of each two by two block.
extern "C" __global__ void strassen_sign(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                         int N, int K) {
  int row = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
  int col = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= M || col >= N) return;
  float c11 = 0.0f, c12 = 0.0f, c21 = 0.0f, c22 = 0.0f;
  for (int k = 0; k < K; k += 2) {
    float a11 = A[row * K + k], a12 = A[row * K + k + 1], a21 = A[(row + 1) * K + k], a22 = A[(row + 1) * K + k + 1];
    float b11 = B[k * N + col], b12 = B[k * N + col + 1], b21 = B[(k + 1) * N + col], b22 = B[(k + 1) * N + col + 1];
    float m1 = (a11 + a22) * (b11 + b22);
    float m2 = (a21 + a22) * b11;
    float m3 = a11 * (b12 - b22);
    float m4 = a22 * (b21 - b11);
    float m5 = (a11 + a12) * b22;
    float m6 = (a21 - a11) * (b11 + b12);
    float m7 = (a12 - a22) * (b21 + b22);
    c11 += m1 + m4 - m5 + m7;
    c12 += m3 + m5;
    c21 += m2 + m4;
    c22 += m1 + m2 + m3 + m6;
  }
  C[row * N + col] = c11;
  C[row * N + col + 1] = c12;
  C[(row + 1) * N + col] = c21;
  C[(row + 1) * N + col + 1] = c22;
}
