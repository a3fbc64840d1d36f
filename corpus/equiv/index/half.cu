// Half precision, two at once.
#include <cuda_fp16.h>

extern "C" __global__ void half_rows(const __half* table, const int* idx, float* out, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < d; j++) out[i * d + j] = __half2float(table[idx[i] * d + j]);
}

extern "C" __global__ void half_pairs(const __half2* table, const int* idx, float2* out, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, h = d / 2;
  if (t >= n * h) return;
  out[t] = __half22float2(table[idx[t / h] * h + t % h]);
}
