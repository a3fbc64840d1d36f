#include <cuda_bf16.h>
__device__ float get(const __nv_bfloat16* x, int i) {
  return __bfloat162float(__ldg(x + i));
}

extern "C" __global__ void convert(const __nv_bfloat16* x, float* y) {
  int i = threadIdx.x;
  float v = get(x, i);
  y[i] = v;
}
