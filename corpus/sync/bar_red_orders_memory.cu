// A vote of the block as the only barrier.
// bar.red waits and orders memory like bar.sync; 22 threads vote yes.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  int votes = __syncthreads_count(t % 3 == 0);
  y[t] = s[63 - t] * votes;
}
