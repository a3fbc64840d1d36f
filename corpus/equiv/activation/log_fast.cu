// Functions of one element with logarithm or tanh.

// Both values are there before one is chosen: a select, not a branch.
__device__ __forceinline__ float pick(bool c, float a, float b) { return c ? a : b; }

#define MAP(NAME, VALUE)                                                                                                         \
  extern "C" __global__ void NAME(const float* __restrict__ x, float* __restrict__ y, int n) {                                  \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                              \
    if (i < n) {                                                                                                                \
      float v = x[i];                                                                                                           \
      y[i] = (VALUE);                                                                                                           \
    }                                                                                                                           \
  }

// sqrt(2 / pi)
#define ROOT 0.79788456080f

MAP(tanh_of, tanhf(v))
MAP(tanh_exp, (expf(2.0f * v) - 1.0f) / (expf(2.0f * v) + 1.0f))
MAP(tanh_sigmoid, 2.0f / (1.0f + expf(-2.0f * v)) - 1.0f)
MAP(sigmoid_tanh, 0.5f * tanhf(0.5f * v) + 0.5f)
MAP(gelu, 0.5f * v * (1.0f + tanhf(ROOT * (v + 0.044715f * v * v * v))))
MAP(gelu_factored, 0.5f * v * (1.0f + tanhf(ROOT * v * (1.0f + 0.044715f * v * v))))
MAP(gelu_sigmoid, v / (1.0f + expf(-2.0f * ROOT * (v + 0.044715f * v * v * v))))
MAP(gelu_exp, v * expf(2.0f * ROOT * (v + 0.044715f * v * v * v)) / (1.0f + expf(2.0f * ROOT * (v + 0.044715f * v * v * v))))
// The product of two constants, rounded: not quite the same function.
MAP(gelu_folded, 0.5f * v * (1.0f + tanhf(v * (ROOT + 0.035677408136f * v * v))))
MAP(softplus, logf(1.0f + expf(v)))
MAP(softplus_shift, v + logf(1.0f + expf(-v)))
MAP(softplus_stable, fmaxf(v, 0.0f) + logf(1.0f + expf(-fabsf(v))))
MAP(mish, v * tanhf(logf(1.0f + expf(v))))
MAP(mish_exp, v * ((1.0f + expf(v)) * (1.0f + expf(v)) - 1.0f) / ((1.0f + expf(v)) * (1.0f + expf(v)) + 1.0f))
MAP(log_sigmoid, logf(1.0f / (1.0f + expf(-v))))
MAP(log_sigmoid_softplus, -logf(1.0f + expf(-v)))
// Powers: the third by powf is undefined for negative numbers.
MAP(cube, v* v* v)
MAP(cube_pow, powf(v, 3.0f))
MAP(root_pow, powf(v, 0.5f))
MAP(root, sqrtf(v))

// Wrong: 0.44715 for 0.044715.
MAP(gelu_constant, 0.5f * v * (1.0f + tanhf(ROOT * (v + 0.44715f * v * v * v))))
// Wrong: sqrt(2/pi) is left out.
MAP(gelu_no_root, 0.5f * v * (1.0f + tanhf(v + 0.044715f * v * v * v)))
// Wrong: the approximation by sigmoid(1.702 x), which is another function.
MAP(gelu_quick, v / (1.0f + expf(-1.702f * v)))
// Wrong: exp(v) where exp(-|v|) is meant.
MAP(softplus_no_abs, fmaxf(v, 0.0f) + logf(1.0f + expf(v)))
// Wrong: a line above 20, as in frameworks: differs there by less than 3e-9, but differs.
MAP(softplus_threshold, pick(v > 20.0f, v, logf(1.0f + expf(v))))
