// Many threads write one cell.
// All lanes write the sum of the warp, each added up in another order: equal over the reals, which takes the decision
// procedure to see. A note, an error under --strict; until equality is decided, unknown.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s;
  int t = threadIdx.x;
  float v = x[t];
  for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
  s = v;
  __syncthreads();
  y[t] = x[t] * s;
}
