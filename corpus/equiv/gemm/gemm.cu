// C = A B for row-major A (M by K), B (K by N), C (M by N), in the ways in which it is made fast.

// One thread for each element of C.
extern "C" __global__ void naive(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                 int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}

// The rows of C along x: neighbouring threads read different rows of A.
extern "C" __global__ void uncoalesced(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                       int N, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}

// A block of 256 threads in one dimension for 16 by 16 elements.
extern "C" __global__ void coalesced(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                     int N, int K) {
  int row = blockIdx.y * 16 + threadIdx.x / 16;
  int col = blockIdx.x * 16 + threadIdx.x % 16;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum = fmaf(A[row * K + k], B[k * N + col], sum);
    C[row * N + col] = sum;
  }
}

// The inner product from its end, in four sums.
extern "C" __global__ void reversed(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                    int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int k = K - 1;
    for (; k >= 3; k -= 4)
      for (int j = 0; j < 4; j++) part[j] += A[row * K + k - j] * B[(k - j) * N + col];
    for (; k >= 0; k--) part[0] += A[row * K + k] * B[k * N + col];
    C[row * N + col] = (part[0] + part[1]) + (part[2] + part[3]);
  }
}

// Tiles of 16 by 16 in shared memory, zeros beyond the edges: any M, N, K.
extern "C" __global__ void shared_tiles(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                        int N, int K) {
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
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

// 32 by 32 elements for a block of 256 threads, four below each other for each thread.
extern "C" __global__ void tile_1d(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                   int K) {
  __shared__ float As[32 * 8];
  __shared__ float Bs[8 * 32];
  int t = threadIdx.x;
  int col = t % 32, row = t / 32;
  A += blockIdx.y * 32 * K;
  B += blockIdx.x * 32;
  C += blockIdx.y * 32 * N + blockIdx.x * 32;
  float sum[4] = {0.0f};
  for (int k0 = 0; k0 < K; k0 += 8) {
    As[t] = A[t / 8 * K + k0 + t % 8];
    Bs[t] = B[(k0 + t / 32) * N + t % 32];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
      float b = Bs[k * 32 + col];
      for (int i = 0; i < 4; i++) sum[i] += As[(row * 4 + i) * 8 + k] * b;
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++) C[(row * 4 + i) * N + col] = sum[i];
}

// 32 by 32 elements for a block of 64 threads, 4 by 4 for each thread.
extern "C" __global__ void tile_2d(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                   int K) {
  __shared__ float As[32 * 8];
  __shared__ float Bs[8 * 32];
  int t = threadIdx.x;
  int col = t % 8, row = t / 8;
  A += blockIdx.y * 32 * K;
  B += blockIdx.x * 32;
  C += blockIdx.y * 32 * N + blockIdx.x * 32;
  float sum[4][4] = {{0.0f}};
  for (int k0 = 0; k0 < K; k0 += 8) {
    for (int i = t; i < 256; i += 64) {
      As[i] = A[i / 8 * K + k0 + i % 8];
      Bs[i] = B[(k0 + i / 32) * N + i % 32];
    }
    __syncthreads();
    for (int k = 0; k < 8; k++) {
      float a[4], b[4];
      for (int i = 0; i < 4; i++) a[i] = As[(row * 4 + i) * 8 + k];
      for (int j = 0; j < 4; j++) b[j] = Bs[k * 32 + col * 4 + j];
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) C[(row * 4 + i) * N + col * 4 + j] = sum[i][j];
}

// The same with float4; A is turned round on its way into shared memory.
extern "C" __global__ void vec4(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                int K) {
  __shared__ __align__(16) float As[8 * 32];
  __shared__ __align__(16) float Bs[8 * 32];
  int t = threadIdx.x;
  int col = t % 8, row = t / 8;
  A += blockIdx.y * 32 * K;
  B += blockIdx.x * 32;
  C += blockIdx.y * 32 * N + blockIdx.x * 32;
  int ar = t / 2, ac = t % 2 * 4;
  float sum[4][4] = {{0.0f}};
  for (int k0 = 0; k0 < K; k0 += 8) {
    float4 a4 = *(const float4*)&A[ar * K + k0 + ac];
    As[(ac + 0) * 32 + ar] = a4.x;
    As[(ac + 1) * 32 + ar] = a4.y;
    As[(ac + 2) * 32 + ar] = a4.z;
    As[(ac + 3) * 32 + ar] = a4.w;
    *(float4*)&Bs[row * 32 + col * 4] = *(const float4*)&B[(k0 + row) * N + col * 4];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
      float4 a = *(float4*)&As[k * 32 + row * 4];
      float4 b = *(float4*)&Bs[k * 32 + col * 4];
      float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum[i][j] += av[i] * bv[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    *(float4*)&C[(row * 4 + i) * N + col * 4] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

// 64 by 64 elements for a block of four warps, 32 by 32 for each warp, 8 by 4 for each lane.
extern "C" __global__ void warp_tile(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                     int N, int K) {
  __shared__ __align__(16) float As[8 * 64];
  __shared__ __align__(16) float Bs[8 * 64];
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  A += blockIdx.y * 64 * K;
  B += blockIdx.x * 64;
  C += blockIdx.y * 64 * N + blockIdx.x * 64;
  int row = warp / 2 * 32 + lane / 8 * 8, col = warp % 2 * 32 + lane % 8 * 4;
  float sum[8][4] = {{0.0f}};
  for (int k0 = 0; k0 < K; k0 += 8) {
    float4 a4 = *(const float4*)&A[t / 2 * K + k0 + t % 2 * 4];
    As[(t % 2 * 4 + 0) * 64 + t / 2] = a4.x;
    As[(t % 2 * 4 + 1) * 64 + t / 2] = a4.y;
    As[(t % 2 * 4 + 2) * 64 + t / 2] = a4.z;
    As[(t % 2 * 4 + 3) * 64 + t / 2] = a4.w;
    *(float4*)&Bs[t / 16 * 64 + t % 16 * 4] = *(const float4*)&B[(k0 + t / 16) * N + t % 16 * 4];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
      float4 b = *(float4*)&Bs[k * 64 + col];
      for (int i = 0; i < 8; i++) {
        float a = As[k * 64 + row + i];
        sum[i][0] += a * b.x;
        sum[i][1] += a * b.y;
        sum[i][2] += a * b.z;
        sum[i][3] += a * b.w;
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; i++)
    *(float4*)&C[(row + i) * N + col] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

// Two pairs of tiles: the next pair is on its way in registers while the present one is multiplied; one barrier for each tile.
extern "C" __global__ void double_buffer(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                         int N, int K) {
  __shared__ float As[2][16][16];
  __shared__ float Bs[2][16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  As[0][ty][tx] = A[row * K + tx];
  Bs[0][ty][tx] = B[ty * N + col];
  __syncthreads();
  float sum = 0.0f;
  int now = 0;
  for (int k0 = 0; k0 < K; k0 += 16) {
    float a = 0.0f, b = 0.0f;
    bool more = k0 + 16 < K;
    if (more) {
      a = A[row * K + k0 + 16 + tx];
      b = B[(k0 + 16 + ty) * N + col];
    }
    for (int k = 0; k < 16; k++) sum += As[now][ty][k] * Bs[now][k][tx];
    if (more) {
      As[now ^ 1][ty][tx] = a;
      Bs[now ^ 1][ty][tx] = b;
    }
    __syncthreads();
    now ^= 1;
  }
  C[row * N + col] = sum;
}

__device__ __forceinline__ void copy4(float* to, const float* from) {
  unsigned s = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
}

// Three pairs of tiles filled by asynchronous copies, two of them ahead; 32 by 32 elements for 64 threads.
extern "C" __global__ void async_copy(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                      int N, int K) {
  __shared__ __align__(16) float As[3][32 * 8];
  __shared__ __align__(16) float Bs[3][8 * 32];
  int t = threadIdx.x;
  int col = t % 8, row = t / 8;
  A += blockIdx.y * 32 * K;
  B += blockIdx.x * 32;
  C += blockIdx.y * 32 * N + blockIdx.x * 32;
  int tiles = K / 8;
  for (int s = 0; s < 2; s++) {
    if (s < tiles) {
      copy4(&As[s][t * 4], &A[t / 2 * K + s * 8 + t % 2 * 4]);
      copy4(&Bs[s][t * 4], &B[(s * 8 + t / 8) * N + t % 8 * 4]);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  float sum[4][4] = {{0.0f}};
  for (int i = 0; i < tiles; i++) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    int next = i + 2;
    if (next < tiles) {
      copy4(&As[next % 3][t * 4], &A[t / 2 * K + next * 8 + t % 2 * 4]);
      copy4(&Bs[next % 3][t * 4], &B[(next * 8 + t / 8) * N + t % 8 * 4]);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    const float* as = As[i % 3];
    const float* bs = Bs[i % 3];
    for (int k = 0; k < 8; k++) {
      for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) sum[y][x] += as[(row * 4 + y) * 8 + k] * bs[k * 32 + col * 4 + x];
    }
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 4; x++) C[(row * 4 + y) * N + col * 4 + x] = sum[y][x];
}

// Tiles of 16 by 16 whose columns are exchanged by xor with the row, against bank conflicts.
extern "C" __global__ void swizzle(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                   int K) {
  __shared__ float As[256];
  __shared__ float Bs[256];
  int t = threadIdx.x, tx = t & 15, ty = t >> 4;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[ty * 16 + (tx ^ ty)] = A[row * K + k0 + tx];
    Bs[tx * 16 + (ty ^ tx)] = B[(k0 + ty) * N + col];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += As[ty * 16 + (k ^ ty)] * Bs[tx * 16 + (k ^ tx)];
    __syncthreads();
  }
  C[row * N + col] = sum;
}

// Blocks in one dimension, numbered in groups of two rows of tiles so that neighbours share columns of B.
extern "C" __global__ void grouped_blocks(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                          int N, int K) {
  __shared__ float As[16][17];
  __shared__ float Bs[16][17];
  int tiles_m = (M + 15) / 16, tiles_n = (N + 15) / 16;
  int group = blockIdx.x / (2 * tiles_n);
  int first = group * 2;
  int height = min(tiles_m - first, 2);
  int within = blockIdx.x % (2 * tiles_n);
  int by = first + within % height, bx = within / height;
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int row = by * 16 + ty, col = bx * 16 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

// A fixed number of blocks that take one tile after the other.
extern "C" __global__ void persistent(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                      int N, int K) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  int tiles_n = N / 16, tiles = M / 16 * tiles_n;
  int tx = threadIdx.x, ty = threadIdx.y;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    int row = tile / tiles_n * 16 + ty, col = tile % tiles_n * 16 + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
      As[ty][tx] = A[row * K + k0 + tx];
      Bs[ty][tx] = B[(k0 + ty) * N + col];
      __syncthreads();
      for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];
      __syncthreads();
    }
    C[row * N + col] = sum;
  }
}

// Each of gridDim.z blocks adds its part of the inner products to a C that starts with zeros.
extern "C" __global__ void split_k(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int share = (K + gridDim.z - 1) / gridDim.z;
  int from = blockIdx.z * share, to = min(from + share, K);
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = from; k < to; k++) sum += A[row * K + k] * B[k * N + col];
    atomicAdd(&C[row * N + col], sum);
  }
}

// A warp for each element of C: the lanes share the inner product and add up by shuffles.
extern "C" __global__ void warp_dot(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                    int K) {
  int element = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (element >= M * N) return;
  int row = element / N, col = element % N;
  float sum = 0.0f;
  for (int k = lane; k < K; k += 32) sum += A[row * K + k] * B[k * N + col];
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (lane == 0) C[element] = sum;
}

// One level of Strassen's scheme for two by two elements: seven products in the place of eight. M, N, K even.
extern "C" __global__ void strassen(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                                    int K) {
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
    c22 += m1 - m2 + m3 + m6;
  }
  C[row * N + col] = c11;
  C[row * N + col + 1] = c12;
  C[(row + 1) * N + col] = c21;
  C[(row + 1) * N + col + 1] = c22;
}
