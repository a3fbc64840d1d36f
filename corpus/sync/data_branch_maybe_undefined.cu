// Each thread writes its element of s if it is positive, and reads its neighbour's in any case.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int i = threadIdx.x;
  if (x[i] > 0.0f) s[i] = x[i] * x[64 + i];
  __syncthreads();
  y[i] = s[i ^ 1];
}
