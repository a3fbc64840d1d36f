// Sum of a block of 8 rows: first over rows, then over columns, in the same shared memory. The pattern of PyTorch pull
// request 162995.
// Fixed: a barrier between the two.
extern "C" __global__ void reduce_block(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[8 * 16];
  int tx = threadIdx.x, ty = threadIdx.y;
  float v = x[(blockIdx.x * 8 + ty) * 16 + tx];
  s[ty * 16 + tx] = v;
  for (int step = 4; step > 0; step /= 2) {
    __syncthreads();
    if (ty < step) {
      v += s[(ty + step) * 16 + tx];
      s[ty * 16 + tx] = v;
    }
  }
  __syncthreads();
  s[tx * 8 + ty] = v;
  for (int step = 8; step > 0; step /= 2) {
    __syncthreads();
    if (tx < step) {
      v += s[(tx + step) * 8 + ty];
      s[tx * 8 + ty] = v;
    }
  }
  if (tx == 0 && ty == 0) y[blockIdx.x] = v;
}
