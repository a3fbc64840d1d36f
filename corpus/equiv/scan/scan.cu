// Prefix sums and maxima of each row of x (rows by n).
#include <math_constants.h>

extern "C" __global__ void serial(const float* __restrict__ x, float* __restrict__ y, int n) {
  int r = blockIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    sum += x[r * n + i];
    y[r * n + i] = sum;
  }
}

extern "C" __global__ void serial_exclusive(const float* __restrict__ x, float* __restrict__ y, int n) {
  int r = blockIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    y[r * n + i] = sum;
    sum += x[r * n + i];
  }
}

extern "C" __global__ void serial_max(const float* __restrict__ x, float* __restrict__ y, int n) {
  int r = blockIdx.x;
  float top = -CUDART_INF_F;
  for (int i = 0; i < n; i++) {
    top = fmaxf(top, x[r * n + i]);
    y[r * n + i] = top;
  }
}

// After Hillis and Steele, two buffers; n threads, up to 128.
extern "C" __global__ void hillis_steele(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[2][128];
  int t = threadIdx.x, now = 0;
  s[0][t] = x[blockIdx.x * n + t];
  __syncthreads();
  for (int o = 1; o < n; o *= 2) {
    s[now ^ 1][t] = t >= o ? s[now][t] + s[now][t - o] : s[now][t];
    now ^= 1;
    __syncthreads();
  }
  y[blockIdx.x * n + t] = s[now][t];
}

// After Blelloch, exclusive, n/2 threads for n elements, a power of two.
extern "C" __global__ void blelloch(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[2 * t] = x[blockIdx.x * n + 2 * t];
  s[2 * t + 1] = x[blockIdx.x * n + 2 * t + 1];
  int o = 1;
  for (int d = n / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) s[o * (2 * t + 2) - 1] += s[o * (2 * t + 1) - 1];
    o *= 2;
  }
  if (t == 0) s[n - 1] = 0.0f;
  for (int d = 1; d < n; d *= 2) {
    o /= 2;
    __syncthreads();
    if (t < d) {
      float left = s[o * (2 * t + 1) - 1];
      s[o * (2 * t + 1) - 1] = s[o * (2 * t + 2) - 1];
      s[o * (2 * t + 2) - 1] += left;
    }
  }
  __syncthreads();
  y[blockIdx.x * n + 2 * t] = s[2 * t];
  y[blockIdx.x * n + 2 * t + 1] = s[2 * t + 1];
}

// Shuffles inside warps, totals of warps in shared memory; n threads, up to 128.
extern "C" __global__ void warps(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float totals[4];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  float v = x[blockIdx.x * n + t];
  for (int o = 1; o < 32; o *= 2) {
    float left = __shfl_up_sync(0xffffffffu, v, o);
    if (lane >= o) v += left;
  }
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp; w++) v += totals[w];
  y[blockIdx.x * n + t] = v;
}

// A warp goes along a row of any length with a carry; maxima.
extern "C" __global__ void warp_max(const float* __restrict__ x, float* __restrict__ y, int n) {
  int lane = threadIdx.x;
  float carry = -CUDART_INF_F;
  for (int i0 = 0; i0 < n; i0 += 32) {
    int i = i0 + lane;
    float v = i < n ? x[blockIdx.x * n + i] : -CUDART_INF_F;
    for (int o = 1; o < 32; o *= 2) {
      float left = __shfl_up_sync(0xffffffffu, v, o);
      if (lane >= o) v = fmaxf(v, left);
    }
    v = fmaxf(v, carry);
    if (i < n) y[blockIdx.x * n + i] = v;
    carry = __shfl_sync(0xffffffffu, v, 31);
  }
}

// First-order recurrence h = a h + x, one thread.
extern "C" __global__ void recurrence(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int n) {
  float h = 0.0f;
  for (int i = 0; i < n; i++) {
    h = a[i] * h + x[i];
    y[i] = h;
  }
}

// The same as a scan of pairs (a, x) by shuffles: 32 elements.
extern "C" __global__ void recurrence_scan(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y,
                                           int n) {
  int lane = threadIdx.x;
  float f = a[lane], v = x[lane];
  for (int o = 1; o < 32; o *= 2) {
    float f_left = __shfl_up_sync(0xffffffffu, f, o), v_left = __shfl_up_sync(0xffffffffu, v, o);
    if (lane >= o) {
      v += f * v_left;
      f *= f_left;
    }
  }
  y[lane] = v;
}

// Wrong: totals of all but the nearest warp.
extern "C" __global__ void lost_total(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float totals[4];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  float v = x[blockIdx.x * n + t];
  for (int o = 1; o < 32; o *= 2) {
    float left = __shfl_up_sync(0xffffffffu, v, o);
    if (lane >= o) v += left;
  }
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp - 1; w++) v += totals[w];
  y[blockIdx.x * n + t] = v;
}

// Wrong: the last step is left out.
extern "C" __global__ void short_scan(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[2][128];
  int t = threadIdx.x, now = 0;
  s[0][t] = x[blockIdx.x * n + t];
  __syncthreads();
  for (int o = 1; o < n / 2; o *= 2) {
    s[now ^ 1][t] = t >= o ? s[now][t] + s[now][t - o] : s[now][t];
    now ^= 1;
    __syncthreads();
  }
  y[blockIdx.x * n + t] = s[now][t];
}

// Wrong: one buffer, read and written in the same step: a race.
extern "C" __global__ void one_buffer(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * n + t];
  __syncthreads();
  for (int o = 1; o < n; o *= 2) {
    if (t >= o) s[t] += s[t - o];
    __syncthreads();
  }
  y[blockIdx.x * n + t] = s[t];
}

// Wrong: the factor of the left part is not carried along.
extern "C" __global__ void recurrence_factor(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y,
                                             int n) {
  int lane = threadIdx.x;
  float f = a[lane], v = x[lane];
  for (int o = 1; o < 32; o *= 2) {
    float v_left = __shfl_up_sync(0xffffffffu, v, o);
    if (lane >= o) v += f * v_left;
  }
  y[lane] = v;
}
