// Functions of one element, without logarithm or tanh.

// Both values are there before one is chosen: a select, not a branch.
__device__ __forceinline__ float pick(bool c, float a, float b) { return c ? a : b; }

#define MAP(NAME, PARAMETERS, VALUE)                                                                                             \
  extern "C" __global__ void NAME(const float* __restrict__ x, float* __restrict__ y, int n PARAMETERS) {                       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                              \
    if (i < n) {                                                                                                                \
      float v = x[i];                                                                                                           \
      y[i] = (VALUE);                                                                                                           \
    }                                                                                                                           \
  }
#define NONE
#define ALPHA , float alpha

MAP(relu, NONE, v > 0.0f ? v : 0.0f)
MAP(relu_max, NONE, fmaxf(v, 0.0f))
MAP(relu_abs, NONE, 0.5f * (v + fabsf(v)))
MAP(relu6, NONE, v < 0.0f ? 0.0f : v > 6.0f ? 6.0f : v)
MAP(relu6_clamp, NONE, fminf(fmaxf(v, 0.0f), 6.0f))
MAP(relu6_other, NONE, fmaxf(fminf(v, 6.0f), 0.0f))
MAP(leaky, ALPHA, v > 0.0f ? v : alpha * v)
MAP(leaky_max, ALPHA, fmaxf(v, alpha * v))
MAP(leaky_parts, ALPHA, fmaxf(v, 0.0f) + alpha * fminf(v, 0.0f))
MAP(elu, ALPHA, pick(v > 0.0f, v, alpha * (expf(v) - 1.0f)))
MAP(elu_parts, ALPHA, fmaxf(v, 0.0f) + alpha * (expf(fminf(v, 0.0f)) - 1.0f))
MAP(sigmoid, NONE, 1.0f / (1.0f + expf(-v)))
MAP(sigmoid_exp, NONE, expf(v) / (expf(v) + 1.0f))
MAP(sigmoid_stable, NONE, pick(v >= 0.0f, 1.0f / (1.0f + expf(-v)), expf(v) / (1.0f + expf(v))))
MAP(silu, NONE, v * (1.0f / (1.0f + expf(-v))))
MAP(silu_div, NONE, v / (1.0f + expf(-v)))
MAP(hard_sigmoid, NONE, fminf(fmaxf(v + 3.0f, 0.0f), 6.0f) / 6.0f)
MAP(hard_sigmoid_select, NONE, pick(v <= -3.0f, 0.0f, pick(v >= 3.0f, 1.0f, (v + 3.0f) / 6.0f)))
MAP(hard_swish, NONE, v * (fminf(fmaxf(v + 3.0f, 0.0f), 6.0f) / 6.0f))
MAP(hard_swish_select, NONE, pick(v <= -3.0f, 0.0f, pick(v >= 3.0f, v, v * (v + 3.0f) / 6.0f)))
MAP(square_relu, NONE, fmaxf(v, 0.0f) * fmaxf(v, 0.0f))
MAP(square_relu_abs, NONE, 0.5f * v * (v + fabsf(v)))

// Four elements at a time, the rest one by one, any grid.
extern "C" __global__ void silu_vec4(const float* __restrict__ x, float* __restrict__ y, int n) {
  int step = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n / 4; i += step) {
    float4 v = ((const float4*)x)[i];
    v.x = v.x / (1.0f + expf(-v.x));
    v.y = v.y / (1.0f + expf(-v.y));
    v.z = v.z / (1.0f + expf(-v.z));
    v.w = v.w / (1.0f + expf(-v.w));
    ((float4*)y)[i] = v;
  }
  for (int i = n / 4 * 4 + first; i < n; i += step) y[i] = x[i] / (1.0f + expf(-x[i]));
}

// SwiGLU: silu(a) b for rows [a, b] of 2 n elements.
extern "C" __global__ void swiglu(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * n) return;
  int r = i / n, c = i % n;
  float a = x[r * 2 * n + c], b = x[r * 2 * n + n + c];
  y[i] = a * (1.0f / (1.0f + expf(-a))) * b;
}

extern "C" __global__ void swiglu_rows(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  const float2* a = (const float2*)(x + blockIdx.x * 2 * n);
  const float2* b = (const float2*)(x + blockIdx.x * 2 * n + n);
  float2* out = (float2*)(y + blockIdx.x * n);
  for (int c = threadIdx.x; c < n / 2; c += blockDim.x)
    out[c] = make_float2(b[c].x * a[c].x / (1.0f + expf(-a[c].x)), b[c].y * a[c].y / (1.0f + expf(-a[c].y)));
}
