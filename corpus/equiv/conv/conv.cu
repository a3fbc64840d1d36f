// Convolutions as networks have them (correlations), of x [C, H, W] with w [O, C, 3, 3], padded by one, to y [O, H, W].

// A thread for each output.
extern "C" __global__ void direct(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C, int H,
                                  int W, int O) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= O * H * W) return;
  int o = i / (H * W), h = i / W % H, c = i % W;
  float sum = 0.0f;
  for (int ch = 0; ch < C; ch++)
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        int r = h + a - 1, q = c + b - 1;
        if (r >= 0 && r < H && q >= 0 && q < W) sum += x[(ch * H + r) * W + q] * w[((o * C + ch) * 3 + a) * 3 + b];
      }
  y[i] = sum;
}

// A block of 8 by 8 threads for 8 by 8 outputs of one channel, the input with its border in shared memory.
extern "C" __global__ void tiled(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C, int H,
                                 int W, int O) {
  __shared__ float xs[10][10];
  __shared__ float ws[9];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 8 + tx, o = blockIdx.z;
  int h0 = blockIdx.y * 8, c0 = blockIdx.x * 8;
  float sum = 0.0f;
  for (int ch = 0; ch < C; ch++) {
    for (int e = t; e < 100; e += 64) {
      int r = h0 + e / 10 - 1, q = c0 + e % 10 - 1;
      xs[e / 10][e % 10] = r >= 0 && r < H && q >= 0 && q < W ? x[(ch * H + r) * W + q] : 0.0f;
    }
    if (t < 9) ws[t] = w[(o * C + ch) * 9 + t];
    __syncthreads();
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) sum += xs[ty + a][tx + b] * ws[a * 3 + b];
    __syncthreads();
  }
  if (h0 + ty < H && c0 + tx < W) y[(o * H + h0 + ty) * W + c0 + tx] = sum;
}

// As a matrix product, w [O, 9 C] times the windows [9 C, H W], which are gathered tile by tile: 16 by 16.
extern "C" __global__ void implicit_gemm(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C,
                                         int H, int W, int O) {
  __shared__ float ws[16][17];
  __shared__ float xs[16][17];
  int tx = threadIdx.x, ty = threadIdx.y;
  int o = blockIdx.y * 16 + ty, p = blockIdx.x * 16 + tx, K = 9 * C;
  int h = p / W, c = p % W;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    ws[ty][tx] = o < O && k0 + tx < K ? w[o * K + k0 + tx] : 0.0f;
    int k = k0 + ty, ch = k / 9, r = h + k % 9 / 3 - 1, q = c + k % 3 - 1;
    bool inside = k < K && p < H * W && r >= 0 && r < H && q >= 0 && q < W;
    xs[ty][tx] = inside ? x[(ch * H + r) * W + q] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 16; j++) sum += ws[ty][j] * xs[j][tx];
    __syncthreads();
  }
  if (o < O && p < H * W) y[o * H * W + p] = sum;
}

// Channels last: x [H, W, C], w [O, 3, 3, C], y [H, W, O].
extern "C" __global__ void channels_last(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C,
                                         int H, int W, int O) {
  int h = blockIdx.y, c = blockIdx.x;
  for (int o = threadIdx.x; o < O; o += blockDim.x) {
    float sum = 0.0f;
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        int r = h + a - 1, q = c + b - 1;
        if (r < 0 || r >= H || q < 0 || q >= W) continue;
        for (int ch = 0; ch < C; ch++) sum += x[(r * W + q) * C + ch] * w[((o * 3 + a) * 3 + b) * C + ch];
      }
    y[(h * W + c) * O + o] = sum;
  }
}

// One dimension, three taps, no padding: y has n - 2 elements.
extern "C" __global__ void taps3(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 2) y[i] = x[i] * w[0] + x[i + 1] * w[1] + x[i + 2] * w[2];
}

// Winograd's F(2, 3): two outputs with four products. n is even.
extern "C" __global__ void winograd(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n - 2) return;
  float d0 = x[i], d1 = x[i + 1], d2 = x[i + 2], d3 = x[i + 3];
  float m1 = (d0 - d2) * w[0];
  float m2 = (d1 + d2) * ((w[0] + w[1] + w[2]) * 0.5f);
  float m3 = (d2 - d1) * ((w[0] - w[1] + w[2]) * 0.5f);
  float m4 = (d1 - d3) * w[2];
  y[i] = m1 + m2 + m3;
  y[i + 1] = m2 - m3 - m4;
}

// Wrong: the filter is turned round.
extern "C" __global__ void flipped(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C, int H,
                                   int W, int O) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= O * H * W) return;
  int o = i / (H * W), h = i / W % H, c = i % W;
  float sum = 0.0f;
  for (int ch = 0; ch < C; ch++)
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        int r = h + a - 1, q = c + b - 1;
        if (r >= 0 && r < H && q >= 0 && q < W) sum += x[(ch * H + r) * W + q] * w[((o * C + ch) * 3 + 2 - a) * 3 + 2 - b];
      }
  y[i] = sum;
}

// Wrong: rows and columns of the filter are exchanged.
extern "C" __global__ void swapped_taps(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C,
                                        int H, int W, int O) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= O * H * W) return;
  int o = i / (H * W), h = i / W % H, c = i % W;
  float sum = 0.0f;
  for (int ch = 0; ch < C; ch++)
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        int r = h + a - 1, q = c + b - 1;
        if (r >= 0 && r < H && q >= 0 && q < W) sum += x[(ch * H + r) * W + q] * w[((o * C + ch) * 3 + b) * 3 + a];
      }
  y[i] = sum;
}

// Wrong: at the border the nearest element is taken, where there should be zero.
extern "C" __global__ void replicated(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C,
                                      int H, int W, int O) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= O * H * W) return;
  int o = i / (H * W), h = i / W % H, c = i % W;
  float sum = 0.0f;
  for (int ch = 0; ch < C; ch++)
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        int r = min(max(h + a - 1, 0), H - 1), q = min(max(c + b - 1, 0), W - 1);
        sum += x[(ch * H + r) * W + q] * w[((o * C + ch) * 3 + a) * 3 + b];
      }
  y[i] = sum;
}

// Wrong: the border of the tile on the right is left at zero, so every eighth column lacks its right neighbours.
extern "C" __global__ void short_halo(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C,
                                      int H, int W, int O) {
  __shared__ float xs[10][10];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 8 + tx, o = blockIdx.z;
  int h0 = blockIdx.y * 8, c0 = blockIdx.x * 8;
  float sum = 0.0f;
  for (int ch = 0; ch < C; ch++) {
    for (int e = t; e < 100; e += 64) {
      int r = h0 + e / 10 - 1, q = c0 + e % 10 - 1;
      xs[e / 10][e % 10] = r >= 0 && r < H && q >= 0 && q < W && e % 10 < 9 ? x[(ch * H + r) * W + q] : 0.0f;
    }
    __syncthreads();
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) sum += xs[ty + a][tx + b] * w[(o * C + ch) * 9 + a * 3 + b];
    __syncthreads();
  }
  if (h0 + ty < H && c0 + tx < W) y[(o * H + h0 + ty) * W + c0 + tx] = sum;
}

// Wrong: the last channel of the input is left out.
extern "C" __global__ void lost_channel(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C,
                                        int H, int W, int O) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= O * H * W) return;
  int o = i / (H * W), h = i / W % H, c = i % W;
  float sum = 0.0f;
  for (int ch = 0; ch < C - 1; ch++)
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        int r = h + a - 1, q = c + b - 1;
        if (r >= 0 && r < H && q >= 0 && q < W) sum += x[(ch * H + r) * W + q] * w[((o * C + ch) * 3 + a) * 3 + b];
      }
  y[i] = sum;
}

// Wrong: a half is missing, so that the second tap counts twice.
extern "C" __global__ void winograd_half(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n - 2) return;
  float d0 = x[i], d1 = x[i + 1], d2 = x[i + 2], d3 = x[i + 3];
  float m1 = (d0 - d2) * w[0];
  float m2 = (d1 + d2) * (w[0] + w[1] + w[2]);
  float m3 = (d2 - d1) * (w[0] - w[1] + w[2]);
  float m4 = (d1 - d3) * w[2];
  y[i] = m1 + m2 + m3;
  y[i + 1] = m2 - m3 - m4;
}
