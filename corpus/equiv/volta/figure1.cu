// The two softmax kernels that open the paper on VOLTA, written anew: exponentials in shared memory, and the online form that
// carries a running maximum and a running sum. One block, one thread for each element.
#include <math_constants.h>

extern "C" __global__ void softmax(const float* x, float* y, int n) {
  extern __shared__ float e[];
  int i = threadIdx.x;
  e[i] = expf(x[i]);
  __syncthreads();
  float total = 0.0f;
  for (int j = 0; j < n; j++) total += e[j];
  y[i] = e[i] / total;
}

extern "C" __global__ void online_softmax(const float* x, float* y, int n) {
  float top = -CUDART_INF_F, total = 0.0f;
  for (int j = 0; j < n; j++) {
    float v = x[j];
    float higher = fmaxf(top, v);
    total = total * expf(top - higher) + expf(v - higher);
    top = higher;
  }
  y[threadIdx.x] = expf(x[threadIdx.x] - top) / total;
}

// Wrong: the sum is not rescaled when the maximum grows.
extern "C" __global__ void no_rescale(const float* x, float* y, int n) {
  float top = -CUDART_INF_F, total = 0.0f;
  for (int j = 0; j < n; j++) {
    float v = x[j];
    top = fmaxf(top, v);
    total = total + expf(v - top);
  }
  y[threadIdx.x] = expf(x[threadIdx.x] - top) / total;
}

// Wrong: the maximum is not taken from the numerator.
extern "C" __global__ void no_shift(const float* x, float* y, int n) {
  float top = -CUDART_INF_F, total = 0.0f;
  for (int j = 0; j < n; j++) {
    float v = x[j];
    float higher = fmaxf(top, v);
    total = total * expf(top - higher) + expf(v - higher);
    top = higher;
  }
  y[threadIdx.x] = expf(x[threadIdx.x]) / total;
}

// Wrong: a race, the barrier is missing.
extern "C" __global__ void no_barrier(const float* x, float* y, int n) {
  extern __shared__ float e[];
  int i = threadIdx.x;
  e[i] = expf(x[i]);
  float total = 0.0f;
  for (int j = 0; j < n; j++) total += e[j];
  y[i] = e[i] / total;
}
