// Gradient of a layer norm: two sums over a row, joined over rows of threads by halving (a pattern of Megatron's
// gradient kernels).
// Fixed: a barrier at the end of each halving.
extern "C" __global__ void grad_input(const float* __restrict__ g, const float* __restrict__ x, float* __restrict__ out) {
  __shared__ float buf[2][2][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int i = blockIdx.x * 64 + ty * 16 + tx;
  float a = g[i], b = g[i] * x[i];
  for (int k = 8; k > 0; k /= 2) {
    a += __shfl_xor_sync(0xffffffffu, a, k);
    b += __shfl_xor_sync(0xffffffffu, b, k);
  }
  for (int half = 2; half > 0; half /= 2) {
    if (ty >= half && ty < 2 * half) {
      buf[0][ty - half][tx] = a;
      buf[1][ty - half][tx] = b;
    }
    __syncthreads();
    if (ty < half) {
      a += buf[0][ty][tx];
      b += buf[1][ty][tx];
    }
    __syncthreads();
  }
  if (ty == 0) {
    buf[0][0][tx] = a;
    buf[1][0][tx] = b;
  }
  __syncthreads();
  out[i] = g[i] - (buf[0][0][tx] + x[i] * buf[1][0][tx]) / 64.0f;
}
