// All threads load one value and store it to one place (the harmless races of the RTM kernels that WEFT reports).
// Threads t and t + 4 write w[t mod 4], unordered, but always the same element of c: a note, an error under --strict.
extern "C" __global__ void scale(const float* __restrict__ x, const float* __restrict__ c, float* __restrict__ y) {
  __shared__ float w[4];
  int t = threadIdx.x;
  w[t % 4] = c[t % 4];
  __syncthreads();
  y[t] = x[t] * w[t / 16];
}
