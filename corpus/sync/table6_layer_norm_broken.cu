// Layer norm, rows one after the other, mean and variance of two warps joined in a shared buffer. The pattern of Apex
// issue 1184 (Megatron's layer norm).
// Broken: no barrier between reading the buffer (lines 29 and 30) and filling it for the next row (lines 20 and 21,
// thread (0,1)).
extern "C" __global__ void layer_norm(const float* __restrict__ x, float* __restrict__ y, int rows) {
  __shared__ float buf[2];
  int tx = threadIdx.x, ty = threadIdx.y;
  for (int row = 0; row < rows; row++) {
    float sum = 0.0f, squares = 0.0f;
    for (int i = ty * 32 + tx; i < 128; i += 64) {
      float v = x[row * 128 + i];
      sum += v;
      squares += v * v;
    }
    for (int k = 16; k > 0; k /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, k);
      squares += __shfl_xor_sync(0xffffffffu, squares, k);
    }
    if (ty == 1 && tx == 0) {
      buf[0] = sum;
      buf[1] = squares;
    }
    __syncthreads();
    if (ty == 0 && tx == 0) {
      buf[0] += sum;
      buf[1] += squares;
    }
    __syncthreads();
    float mean = buf[0] / 128.0f;
    float scale = rsqrtf(buf[1] / 128.0f - mean * mean + 1e-5f);
    for (int i = ty * 32 + tx; i < 128; i += 64) y[row * 128 + i] = (x[row * 128 + i] - mean) * scale;
  }
}
