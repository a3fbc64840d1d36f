// Rows of 16 threads; the first row prepares a vector for all. The pattern of llama.cpp issue 27870.
// Fixed: all rows come to all barriers.
extern "C" __global__ void rows(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[16];
  int tx = threadIdx.x, ty = threadIdx.y;
  if (ty == 0) {
    s[tx] = x[tx];
  }
  __syncthreads();
  float v = s[15 - tx];
  __syncthreads();
  if (ty == 0) {
    s[tx] = v * 2.0f;
  }
  __syncthreads();
  y[ty * 16 + tx] = s[tx];
}
