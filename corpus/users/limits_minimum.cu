// expect: proved
// check: --grid 1 --block 64 --arg x=f32[100] --arg k=s32[100] --arg best=f32[1]:out --arg first=s32[1]:out --arg n=100
// Smallest value and key, starting from the largest of their types.
#include <limits.h>
#include <float.h>
#define BLOCK 64

//@ extent x[n], k[n], best[gridDim.x], first[gridDim.x];
//@ requires n >= 0 && blockDim.x == BLOCK && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void minima(const float* x, const int* k, float* best, int* first, int n) {
  __shared__ float sx[BLOCK];
  __shared__ int sk[BLOCK];
  float m = FLT_MAX;
  int q = INT_MAX;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
    m = min(m, x[i]);
    q = min(q, k[i]);
  }
  sx[threadIdx.x] = m;
  sk[threadIdx.x] = q;
  for (int d = BLOCK / 2; d > 0; d >>= 1) {
    __syncthreads();
    if (threadIdx.x < d) {
      sx[threadIdx.x] = fminf(sx[threadIdx.x], sx[threadIdx.x + d]);
      sk[threadIdx.x] = min(sk[threadIdx.x], sk[threadIdx.x + d]);
    }
  }
  if (threadIdx.x == 0) { best[blockIdx.x] = sx[0]; first[blockIdx.x] = sk[0]; }
}
