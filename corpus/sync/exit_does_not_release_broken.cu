// Warp 1 writes and ends; warp 0 waits at a barrier that completes without it, and reads.
// Broken: exit (line 9) releases the barrier but is no synchronisation: the write of line 8 is not ordered before the
// read of line 12.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  if (t >= 32) {
    s[t - 32] = x[t - 32];
    return;
  }
  __syncthreads();
  y[t] = s[t];
}
