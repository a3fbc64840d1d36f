// The greatest of any number of elements, by a block whose threads are a power of two: half of them take what the other half has.
//@ extent in[n], out[1], s[blockDim.x];
//@ requires gridDim.x == 1 && \is_pow2(blockDim.x) && n >= 1 && n + blockDim.x <= 2147483647;
//@ ensures out[0] == \fold(max, j, 0, n, in[j]);
__global__ void reduce_halves(const float* in, float* out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  float m = -INFINITY;
  for (int i = t; i < n; i += blockDim.x) m = fmaxf(m, in[i]);
  s[t] = m;
  __syncthreads();
  for (int d = blockDim.x/2; d > 0; d /= 2) {
    if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();  // of the loop
  }
  if (t == 0) out[0] = s[0];
}
