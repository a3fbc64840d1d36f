// Functions of one element that the compiler turns into short branches on its value.

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

MAP(elu, ALPHA, v > 0.0f ? v : alpha * (expf(v) - 1.0f))
MAP(sigmoid_stable, NONE, v >= 0.0f ? 1.0f / (1.0f + expf(-v)) : expf(v) / (1.0f + expf(v)))
MAP(hard_swish_select, NONE, v <= -3.0f ? 0.0f : v >= 3.0f ? v : v * (v + 3.0f) / 6.0f)

// Wrong: no factor alpha.
MAP(elu_no_alpha, ALPHA, v > 0.0f ? v : expf(v) - 1.0f)

// The store itself is below the branch.
extern "C" __global__ void relu_store(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 0.0f;
    if (x[i] > 0.0f) y[i] = x[i];
  }
}
