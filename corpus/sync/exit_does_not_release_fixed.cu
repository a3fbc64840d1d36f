// Warp 1 writes and ends; warp 0 waits at a barrier that completes without it, and reads.
// Fixed: warp 1 comes to the barrier before it ends.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  if (t >= 32) {
    s[t - 32] = x[t - 32];
  }
  __syncthreads();
  if (t >= 32) return;
  y[t] = s[t];
}
