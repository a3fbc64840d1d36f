// Functions of one element with a mistake; what is wrong stands above each.

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

// No upper clamp.
MAP(relu6_open, NONE, fmaxf(v, 0.0f))
// The clamp is at 5.
MAP(relu6_at_5, NONE, fminf(fmaxf(v, 0.0f), 5.0f))
// The wrong side is flat.
MAP(relu_flipped, NONE, fminf(v, 0.0f))
// The slope on the wrong side.
MAP(leaky_flipped, ALPHA, v > 0.0f ? alpha * v : v)
// No factor alpha.
MAP(elu_no_alpha, ALPHA, pick(v > 0.0f, v, expf(v) - 1.0f))
// exp(x) without the one.
MAP(elu_no_one, ALPHA, pick(v > 0.0f, v, alpha * expf(v)))
// The sign of x.
MAP(sigmoid_sign, NONE, 1.0f / (1.0f + expf(v)))
// No factor x.
MAP(silu_no_factor, NONE, 1.0f / (1.0f + expf(-v)))
// Between 0 and 1 only by the upper clamp.
MAP(hard_sigmoid_open, NONE, fminf(v + 3.0f, 6.0f) / 6.0f)
// A constant.
MAP(half, NONE, v - v + 0.5f)

// The rest after the last four elements is not written.
extern "C" __global__ void silu_vec4_tail(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  float4 v = ((const float4*)x)[i];
  v.x = v.x / (1.0f + expf(-v.x));
  v.y = v.y / (1.0f + expf(-v.y));
  v.z = v.z / (1.0f + expf(-v.z));
  v.w = v.w / (1.0f + expf(-v.w));
  ((float4*)y)[i] = v;
}

// The third of four elements is computed from the second.
extern "C" __global__ void silu_vec4_copy(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  float4 v = ((const float4*)x)[i];
  v.x = v.x / (1.0f + expf(-v.x));
  v.z = v.y / (1.0f + expf(-v.y));
  v.y = v.y / (1.0f + expf(-v.y));
  v.w = v.w / (1.0f + expf(-v.w));
  ((float4*)y)[i] = v;
}

// The gate is the second half.
extern "C" __global__ void swiglu_swapped(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * n) return;
  int r = i / n, c = i % n;
  float b = x[r * 2 * n + c], a = x[r * 2 * n + n + c];
  y[i] = a / (1.0f + expf(-a)) * b;
}
