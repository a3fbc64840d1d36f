// Three steps of a three-point average in shared memory, ends fixed.
// Fixed: a barrier on either side of the write.
#define THREADS 64

extern "C" __global__ void relax(const float* __restrict__ x, float* __restrict__ y, int steps) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int k = 0; k < steps; k++) {
    float v = s[t];
    if (t > 0 && t < THREADS - 1) v = (s[t - 1] + v + s[t + 1]) / 3.0f;
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  y[t] = s[t];
}
