// y = transpose of x [H, W].

extern "C" __global__ void naive(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < H && c < W) y[c * H + r] = x[r * W + c];
}

// 32 by 32 through shared memory with a padded row, 32 by 8 threads.
extern "C" __global__ void tiled(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  __shared__ float s[32][33];
  int c = blockIdx.x * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) {
    int r = blockIdx.y * 32 + j;
    if (r < H && c < W) s[j][threadIdx.x] = x[r * W + c];
  }
  __syncthreads();
  int r = blockIdx.y * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) {
    int q = blockIdx.x * 32 + j;
    if (r < H && q < W) y[q * H + r] = s[threadIdx.x][j];
  }
}

// Without padding: columns exchanged by xor. H, W are multiples of 32.
extern "C" __global__ void swizzled(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  __shared__ float s[32 * 32];
  int tx = threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) s[j * 32 + (tx ^ j)] = x[(blockIdx.y * 32 + j) * W + blockIdx.x * 32 + tx];
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8) y[(blockIdx.x * 32 + j) * H + blockIdx.y * 32 + tx] = s[tx * 32 + (j ^ tx)];
}

// 4 by 4 in registers, float4 in and out. H, W are multiples of four.
extern "C" __global__ void vec4(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= H / 4 * (W / 4)) return;
  int r = i / (W / 4) * 4, c = i % (W / 4) * 4;
  float4 a = *(const float4*)&x[r * W + c], b = *(const float4*)&x[(r + 1) * W + c];
  float4 d = *(const float4*)&x[(r + 2) * W + c], e = *(const float4*)&x[(r + 3) * W + c];
  *(float4*)&y[c * H + r] = make_float4(a.x, b.x, d.x, e.x);
  *(float4*)&y[(c + 1) * H + r] = make_float4(a.y, b.y, d.y, e.y);
  *(float4*)&y[(c + 2) * H + r] = make_float4(a.z, b.z, d.z, e.z);
  *(float4*)&y[(c + 3) * H + r] = make_float4(a.w, b.w, d.w, e.w);
}

// In place, of a square: each pair above the diagonal is exchanged.
extern "C" __global__ void in_place(float* x, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < c && c < n) {
    float above = x[r * n + c];
    x[r * n + c] = x[c * n + r];
    x[c * n + r] = above;
  }
}

// In place, by rows: thread r exchanges all pairs of its row.
extern "C" __global__ void in_place_rows(float* x, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  for (int c = 0; r < n && c < r; c++) {
    float below = x[r * n + c], above = x[c * n + r];
    x[c * n + r] = below;
    x[r * n + c] = above;
  }
}

// [A, B, C] to [A, C, B].
extern "C" __global__ void permute(const float* __restrict__ x, float* __restrict__ y, int A, int B, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < A * B * C) y[(i / (B * C) * C + i % C) * B + i / C % B] = x[i];
}

extern "C" __global__ void permute_gather(const float* __restrict__ x, float* __restrict__ y, int A, int B, int C) {
  for (int i = threadIdx.x; i < B * C; i += blockDim.x) y[blockIdx.x * B * C + i] = x[(blockIdx.x * B + i % B) * C + i / B];
}

// Wrong: a copy.
extern "C" __global__ void copy(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < H && c < W) y[r * W + c] = x[r * W + c];
}

// Wrong: tiles stay where they are, each transposed in itself. Right on the diagonal of tiles.
extern "C" __global__ void tiles_stay(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  __shared__ float s[32][33];
  int tx = threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) s[j][tx] = x[(blockIdx.y * 32 + j) * W + blockIdx.x * 32 + tx];
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8) y[(blockIdx.y * 32 + j) * H + blockIdx.x * 32 + tx] = s[tx][j];
}

// Wrong: no barrier between filling and reading the tile: a race.
extern "C" __global__ void no_barrier(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  __shared__ float s[32][33];
  int tx = threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) s[j][tx] = x[(blockIdx.y * 32 + j) * W + blockIdx.x * 32 + tx];
  for (int j = threadIdx.y; j < 32; j += 8) y[(blockIdx.x * 32 + j) * H + blockIdx.y * 32 + tx] = s[tx][j];
}

// Wrong: both threads of a pair exchange: a race.
extern "C" __global__ void in_place_twice(float* x, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < n && c < n) {
    float v = x[r * n + c];
    x[c * n + r] = v;
  }
}
