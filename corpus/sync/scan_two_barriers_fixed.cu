// Inclusive prefix sum in one buffer, read and written between two barriers.
// Fixed: a barrier on either side of the write.
#define THREADS 128

extern "C" __global__ void scan(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * THREADS + t;
  s[t] = x[i];
  __syncthreads();
  for (int step = 1; step < THREADS; step *= 2) {
    float add = t >= step ? s[t - step] : 0.0f;
    __syncthreads();
    s[t] += add;
    __syncthreads();
  }
  y[i] = s[t];
}
