// Rows of 16 threads; the first row prepares a vector for all. The pattern of llama.cpp issue 27870.
// Broken: a warp holds two rows: its lanes 0 to 15 wait on line 8, lanes 16 to 31 on line 13.
extern "C" __global__ void rows(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[16];
  int tx = threadIdx.x, ty = threadIdx.y;
  if (ty == 0) {
    s[tx] = x[tx];
    __syncthreads();
    float v = s[15 - tx];
    __syncthreads();
    s[tx] = v * 2.0f;
  }
  __syncthreads();
  y[ty * 16 + tx] = s[tx];
}
