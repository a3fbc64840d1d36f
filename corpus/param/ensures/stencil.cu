// A stencil of five points in shared memory; what lies outside counts as 0.
#define R 2
//@ extent in[n], out[n], s[blockDim.x + 2*R];
//@ requires n >= 1 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483000 && blockDim.x >= R;
//@ ensures \forall int j; 0 <= j < n ==> out[j] == \sum(k, \max(0, j - R), \min(n, j + R + 1), in[k]);
__global__ void stencil(const float* in, float* out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x + R, i = blockIdx.x*blockDim.x + threadIdx.x;
  s[t] = i < n ? in[i] : 0.0f;
  if (threadIdx.x < R) {
    s[t - R] = i >= R && i - R < n ? in[i - R] : 0.0f;
    int far = i + blockDim.x;
    s[t + blockDim.x] = far < n ? in[far] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 2*R + 1; k++) sum += s[threadIdx.x + k];
  if (i < n) out[i] = sum;
}
