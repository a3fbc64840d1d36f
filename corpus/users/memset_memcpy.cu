// expect: proved
// check: --grid 1 --block 16 --arg in=f32[64]=iota --arg out=f32[64]:out --arg n=16
// Local arrays are cleared and copied with the C functions.
#include <string.h>
#define K 4

struct Row { float v[K]; };

//@ extent in[4*n], out[4*n];
//@ requires 0 <= n <= 100000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void sort_rows(const float* in, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float acc[K];
  memset(acc, 0, sizeof(acc));
  for (int k = 0; k < K; k++) acc[k] += in[row * K + k];
  Row r;
  memcpy(r.v, acc, K * sizeof(float));
  for (int i = 1; i < K; i++) {
    float v = r.v[i];
    int j = i - 1;
    while (j >= 0 && r.v[j] > v) { r.v[j + 1] = r.v[j]; j--; }
    r.v[j + 1] = v;
  }
  for (int k = 0; k < K; k++) out[row * K + k] = r.v[k];
}
