// Losses that need no logarithm: one number for n elements, or one for each.

// Mean squared error, one thread.
extern "C" __global__ void mse_serial(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    float d = p[i] - t[i];
    sum += d * d;
  }
  loss[0] = sum / n;
}

// One block of 128 threads: shuffles, then shared memory.
extern "C" __global__ void mse_block(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss, int n) {
  __shared__ float part[4];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 128) sum += (p[i] - t[i]) * (p[i] - t[i]);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) loss[0] = (part[0] + part[1] + part[2] + part[3]) / n;
}

// Many blocks add to a loss that starts at zero.
extern "C" __global__ void mse_atomic(const float* __restrict__ p, const float* __restrict__ t, float* loss, int n) {
  __shared__ float part[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  float d = i < n ? p[i] - t[i] : 0.0f;
  part[threadIdx.x] = d * d;
  __syncthreads();
  for (int o = 32; o > 0; o >>= 1) {
    if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(loss, part[0] / n);
}

// The square multiplied out, one warp.
extern "C" __global__ void mse_expanded(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss,
                                        int n) {
  float pp = 0.0f, pt = 0.0f, tt = 0.0f;
  for (int i = threadIdx.x; i < n; i += 32) {
    pp += p[i] * p[i];
    pt += p[i] * t[i];
    tt += t[i] * t[i];
  }
  float sum = pp - 2.0f * pt + tt;
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x == 0) loss[0] = sum / n;
}

// Hinge: the mean of max(0, margin - t p).
extern "C" __global__ void hinge_serial(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss, int n,
                                        float margin) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    float v = margin - t[i] * p[i];
    sum += v > 0.0f ? v : 0.0f;
  }
  loss[0] = sum / n;
}

extern "C" __global__ void hinge_warp(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss, int n,
                                      float margin) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 32) sum += fmaxf(0.0f, fmaf(-t[i], p[i], margin));
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x == 0) loss[0] = sum / n;
}

// Multi-class margin: the sum over other classes of max(0, margin - x[label] + x[j]), for each row.
extern "C" __global__ void margin_naive(const float* __restrict__ x, const int* __restrict__ label, float* __restrict__ loss,
                                        int rows, int n, float margin) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int j = 0; j < n; j++)
    if (j != label[r]) sum += fmaxf(0.0f, margin - x[r * n + label[r]] + x[r * n + j]);
  loss[r] = sum;
}

// The term of the label itself, which is margin, is taken off at the end. margin is positive.
extern "C" __global__ void margin_warp(const float* __restrict__ x, const int* __restrict__ label, float* __restrict__ loss,
                                       int rows, int n, float margin) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float base = margin - x[r * n + label[r]], sum = 0.0f;
  for (int j = lane; j < n; j += 32) sum += fmaxf(0.0f, base + x[r * n + j]);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0) loss[r] = sum - margin;
}

// Huber: half the square up to delta, then a line.
extern "C" __global__ void huber_naive(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss, int n,
                                       float delta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float d = p[i] - t[i], a = fabsf(d);
  loss[i] = a <= delta ? 0.5f * d * d : delta * (a - 0.5f * delta);
}

// Without a comparison. delta is positive.
extern "C" __global__ void huber_clamped(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss,
                                         int n, float delta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = fabsf(t[i] - p[i]), q = fminf(a, delta);
  loss[i] = 0.5f * q * q + delta * (a - q);
}

// Absolute error, as max(d, -d) in the second.
extern "C" __global__ void l1_abs(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) loss[i] = fabsf(p[i] - t[i]);
}

extern "C" __global__ void l1_max(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) loss[i] = fmaxf(p[i], t[i]) - fminf(p[i], t[i]);
}

// Triplet: max(0, |a - p|^2 - |a - q|^2 + margin) for each row.
extern "C" __global__ void triplet_naive(const float* __restrict__ a, const float* __restrict__ p, const float* __restrict__ q,
                                         float* __restrict__ loss, int rows, int n, float margin) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float near = 0.0f, far = 0.0f;
  for (int i = r * n; i < r * n + n; i++) {
    near += (a[i] - p[i]) * (a[i] - p[i]);
    far += (a[i] - q[i]) * (a[i] - q[i]);
  }
  loss[r] = fmaxf(near - far + margin, 0.0f);
}

// The difference of squares as a product: (q - p) (2 a - p - q).
extern "C" __global__ void triplet_factored(const float* __restrict__ a, const float* __restrict__ p,
                                            const float* __restrict__ q, float* __restrict__ loss, int rows, int n,
                                            float margin) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = margin;
  for (int i = r * n; i < r * n + n; i++) sum += (q[i] - p[i]) * (2.0f * a[i] - p[i] - q[i]);
  loss[r] = fmaxf(sum, 0.0f);
}

// Wrong: the sum, not the mean.
extern "C" __global__ void mse_sum(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += (p[i] - t[i]) * (p[i] - t[i]);
  loss[0] = sum;
}

// Wrong: elements past the last whole warp of the block are left out.
extern "C" __global__ void mse_tail(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss, int n) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n / 32 * 32; i += 32) sum += (p[i] - t[i]) * (p[i] - t[i]);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x == 0) loss[0] = sum / n;
}

// Wrong: no clamp at zero.
extern "C" __global__ void hinge_no_clamp(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss,
                                          int n, float margin) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 32) sum += margin - t[i] * p[i];
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x == 0) loss[0] = sum / n;
}

// Wrong: the clamp is that of the sum.
extern "C" __global__ void hinge_late_clamp(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss,
                                            int n, float margin) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 32) sum += margin - t[i] * p[i];
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x == 0) loss[0] = fmaxf(sum / n, 0.0f);
}

// Wrong: the term of the label itself stays.
extern "C" __global__ void margin_with_label(const float* __restrict__ x, const int* __restrict__ label, float* __restrict__ loss,
                                             int rows, int n, float margin) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int j = 0; j < n; j++) sum += fmaxf(0.0f, margin - x[r * n + label[r]] + x[r * n + j]);
  loss[r] = sum;
}

// Wrong: the line does not meet the square at delta.
extern "C" __global__ void huber_gap(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ loss, int n,
                                     float delta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float d = p[i] - t[i], a = fabsf(d);
  loss[i] = a <= delta ? 0.5f * d * d : delta * (a - delta);
}
