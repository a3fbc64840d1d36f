// Normalisations of each row of x (rows by n).

// Layer norm: mean, then variance, then the quotient; one thread for each row.
extern "C" __global__ void layer_naive(const float* __restrict__ x, const float* __restrict__ g, const float* __restrict__ b,
                                       float* __restrict__ y, int rows, int n, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float mean = 0.0f, var = 0.0f;
  for (int i = 0; i < n; i++) mean += x[r * n + i];
  mean /= n;
  for (int i = 0; i < n; i++) var += (x[r * n + i] - mean) * (x[r * n + i] - mean);
  var /= n;
  for (int i = 0; i < n; i++) y[r * n + i] = (x[r * n + i] - mean) / sqrtf(var + eps) * g[i] + b[i];
}

// The same with rsqrtf and 1/n.
extern "C" __global__ void layer_rsqrt(const float* __restrict__ x, const float* __restrict__ g, const float* __restrict__ b,
                                       float* __restrict__ y, int rows, int n, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float inverse_n = 1.0f / n, sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < n; i++) sum += x[r * n + i];
  float mean = sum * inverse_n;
  for (int i = 0; i < n; i++) {
    float d = x[r * n + i] - mean;
    squares += d * d;
  }
  float inverse = rsqrtf(squares * inverse_n + eps);
  for (int i = 0; i < n; i++) y[r * n + i] = (x[r * n + i] - mean) * inverse * g[i] + b[i];
}

// One pass: the variance is the mean of the squares less the square of the mean.
extern "C" __global__ void layer_one_pass(const float* __restrict__ x, const float* __restrict__ g, const float* __restrict__ b,
                                          float* __restrict__ y, int rows, int n, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < n; i++) {
    float v = x[r * n + i];
    sum += v;
    squares += v * v;
  }
  float mean = sum / n, inverse = rsqrtf(squares / n - mean * mean + eps);
  for (int i = 0; i < n; i++) {
    float scale = inverse * g[i];
    y[r * n + i] = x[r * n + i] * scale + (b[i] - mean * scale);
  }
}

// Welford's running mean and sum of squares.
extern "C" __global__ void layer_welford(const float* __restrict__ x, const float* __restrict__ g, const float* __restrict__ b,
                                         float* __restrict__ y, int rows, int n, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float mean = 0.0f, m2 = 0.0f;
  for (int i = 0; i < n; i++) {
    float v = x[r * n + i], d = v - mean;
    mean += d / (i + 1);
    m2 += d * (v - mean);
  }
  float inverse = rsqrtf(m2 / n + eps);
  for (int i = 0; i < n; i++) y[r * n + i] = (x[r * n + i] - mean) * inverse * g[i] + b[i];
}

// A warp for each row, two passes over registers.
extern "C" __global__ void layer_warp(const float* __restrict__ x, const float* __restrict__ g, const float* __restrict__ b,
                                      float* __restrict__ y, int rows, int n, float eps) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0.0f, squares = 0.0f;
  for (int i = lane; i < n; i += 32) sum += x[r * n + i];
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  float mean = sum / n;
  for (int i = lane; i < n; i += 32) squares += (x[r * n + i] - mean) * (x[r * n + i] - mean);
  for (int o = 16; o > 0; o >>= 1) squares += __shfl_xor_sync(0xffffffffu, squares, o);
  float inverse = rsqrtf(squares / n + eps);
  for (int i = lane; i < n; i += 32) y[r * n + i] = (x[r * n + i] - mean) * inverse * g[i] + b[i];
}

// A warp for each row; Welford in each lane, the lanes' triples are joined after Chan. n is a multiple of 32.
extern "C" __global__ void layer_chan(const float* __restrict__ x, const float* __restrict__ g, const float* __restrict__ b,
                                      float* __restrict__ y, int rows, int n, float eps) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float mean = 0.0f, m2 = 0.0f, count = 0.0f;
  for (int i = lane; i < n; i += 32) {
    float v = x[r * n + i], d = v - mean;
    count += 1.0f;
    mean += d / count;
    m2 += d * (v - mean);
  }
  for (int o = 16; o > 0; o >>= 1) {
    float other_mean = __shfl_xor_sync(0xffffffffu, mean, o);
    float other_m2 = __shfl_xor_sync(0xffffffffu, m2, o);
    float d = other_mean - mean;
    m2 += other_m2 + d * d * (count * 0.5f);
    mean = 0.5f * (mean + other_mean);
    count *= 2.0f;
  }
  float inverse = rsqrtf(m2 / count + eps);
  for (int i = lane; i < n; i += 32) y[r * n + i] = (x[r * n + i] - mean) * inverse * g[i] + b[i];
}

// A block of 64 threads for each row of 4 k elements: float4, both sums at once through shuffles and shared memory.
extern "C" __global__ void layer_block4(const float* __restrict__ x, const float* __restrict__ g, const float* __restrict__ b,
                                        float* __restrict__ y, int rows, int n, float eps) {
  __shared__ float2 part[2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float4* x4 = (const float4*)(x + blockIdx.x * n);
  float4* y4 = (float4*)(y + blockIdx.x * n);
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < n / 4; i += 64) {
    float4 v = x4[i];
    sum += (v.x + v.y) + (v.z + v.w);
    squares += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
  }
  for (int o = 16; o > 0; o >>= 1) {
    sum += __shfl_down_sync(0xffffffffu, sum, o);
    squares += __shfl_down_sync(0xffffffffu, squares, o);
  }
  if (lane == 0) part[warp] = make_float2(sum, squares);
  __syncthreads();
  float mean = (part[0].x + part[1].x) / n;
  float inverse = rsqrtf((part[0].y + part[1].y) / n - mean * mean + eps);
  for (int i = threadIdx.x; i < n / 4; i += 64) {
    float4 v = x4[i], a = ((const float4*)g)[i], c = ((const float4*)b)[i];
    y4[i] = make_float4((v.x - mean) * inverse * a.x + c.x, (v.y - mean) * inverse * a.y + c.y,
                        (v.z - mean) * inverse * a.z + c.z, (v.w - mean) * inverse * a.w + c.w);
  }
}

// Root mean square norm, as the formula says it.
extern "C" __global__ void rms_naive(const float* __restrict__ x, const float* __restrict__ g, float* __restrict__ y, int rows,
                                     int n, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float squares = 0.0f;
  for (int i = 0; i < n; i++) squares += x[r * n + i] * x[r * n + i];
  for (int i = 0; i < n; i++) y[r * n + i] = x[r * n + i] / sqrtf(squares / n + eps) * g[i];
}

// A warp for each row, rsqrtf.
extern "C" __global__ void rms_warp(const float* __restrict__ x, const float* __restrict__ g, float* __restrict__ y, int rows,
                                    int n, float eps) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float squares = 0.0f;
  for (int i = lane; i < n; i += 32) squares += x[r * n + i] * x[r * n + i];
  for (int o = 16; o > 0; o >>= 1) squares += __shfl_xor_sync(0xffffffffu, squares, o);
  float inverse = rsqrtf(squares * (1.0f / n) + eps);
  for (int i = lane; i < n; i += 32) y[r * n + i] = g[i] * (x[r * n + i] * inverse);
}

// sqrt(n) taken out of the root: x sqrt(n) / sqrt(sum of squares + n eps).
extern "C" __global__ void rms_root_n(const float* __restrict__ x, const float* __restrict__ g, float* __restrict__ y, int rows,
                                      int n, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float squares = n * eps;
  for (int i = 0; i < n; i++) squares += x[r * n + i] * x[r * n + i];
  float scale = sqrtf((float)n) / sqrtf(squares);
  for (int i = 0; i < n; i++) y[r * n + i] = x[r * n + i] * scale * g[i];
}

// Residual and norm: h = x + res is an output too.
extern "C" __global__ void rms_residual(const float* __restrict__ x, const float* __restrict__ res, const float* __restrict__ g,
                                        float* h, float* __restrict__ y, int rows, int n, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float squares = 0.0f;
  for (int i = 0; i < n; i++) {
    h[r * n + i] = x[r * n + i] + res[r * n + i];
    squares += h[r * n + i] * h[r * n + i];
  }
  for (int i = 0; i < n; i++) y[r * n + i] = h[r * n + i] / sqrtf(squares / n + eps) * g[i];
}

extern "C" __global__ void rms_residual_warp(const float* __restrict__ x, const float* __restrict__ res,
                                             const float* __restrict__ g, float* __restrict__ h, float* __restrict__ y, int rows,
                                             int n, float eps) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float squares = 0.0f;
  for (int i = lane; i < n; i += 32) {
    float v = res[r * n + i] + x[r * n + i];
    h[r * n + i] = v;
    squares += v * v;
  }
  for (int o = 16; o > 0; o >>= 1) squares += __shfl_xor_sync(0xffffffffu, squares, o);
  float inverse = rsqrtf(squares / n + eps);
  for (int i = lane; i < n; i += 32) y[r * n + i] = (x[r * n + i] + res[r * n + i]) * inverse * g[i];
}

// Batch norm at inference, mean and variance given for each of n channels.
extern "C" __global__ void batch_naive(const float* __restrict__ x, const float* __restrict__ mean, const float* __restrict__ var,
                                       const float* __restrict__ g, const float* __restrict__ b, float* __restrict__ y, int rows,
                                       int n, float eps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * n) return;
  int c = i % n;
  y[i] = g[c] * ((x[i] - mean[c]) / sqrtf(var[c] + eps)) + b[c];
}

// Folded into one multiply-add.
extern "C" __global__ void batch_folded(const float* __restrict__ x, const float* __restrict__ mean,
                                        const float* __restrict__ var, const float* __restrict__ g, const float* __restrict__ b,
                                        float* __restrict__ y, int rows, int n, float eps) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n) return;
  float scale = g[c] * rsqrtf(var[c] + eps), shift = b[c] - mean[c] * scale;
  for (int r = 0; r < rows; r++) y[r * n + c] = fmaf(x[r * n + c], scale, shift);
}

// x over its length, at least eps.
extern "C" __global__ void unit_naive(const float* __restrict__ x, float* __restrict__ y, int rows, int n, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float squares = 0.0f;
  for (int i = 0; i < n; i++) squares += x[r * n + i] * x[r * n + i];
  for (int i = 0; i < n; i++) y[r * n + i] = x[r * n + i] / fmaxf(sqrtf(squares), eps);
}

// The maximum of the squares, and one root. eps is positive.
extern "C" __global__ void unit_warp(const float* __restrict__ x, float* __restrict__ y, int rows, int n, float eps) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float squares = 0.0f;
  for (int i = lane; i < n; i += 32) squares += x[r * n + i] * x[r * n + i];
  for (int o = 16; o > 0; o >>= 1) squares += __shfl_xor_sync(0xffffffffu, squares, o);
  float inverse = rsqrtf(fmaxf(squares, eps * eps));
  for (int i = lane; i < n; i += 32) y[r * n + i] = x[r * n + i] * inverse;
}

// Variance of each row, two passes against one.
extern "C" __global__ void variance(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float mean = 0.0f, var = 0.0f;
  for (int i = 0; i < n; i++) mean += x[r * n + i];
  mean /= n;
  for (int i = 0; i < n; i++) var += (x[r * n + i] - mean) * (x[r * n + i] - mean);
  y[r] = var / n;
}

// Half the mean square of all differences of two elements.
extern "C" __global__ void variance_pairs(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      float d = x[r * n + i] - x[r * n + j];
      sum += d * d;
    }
  y[r] = sum / (n * n);
}
