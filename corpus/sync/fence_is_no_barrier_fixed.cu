// Threads write, fence, and read their neighbour's slot.
// Fixed: a barrier instead of the fence.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  y[t] = s[t ^ 1];
}
