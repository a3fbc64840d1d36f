// Inclusive prefix sum in one buffer, read and written between two barriers.
// Broken: no barrier at the end of a step: thread t + 2 step reads s[t] in the next step (line 13) while thread t
// writes it (line 15).
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
  }
  y[i] = s[t];
}
