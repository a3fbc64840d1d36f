// Sum of each block's elements, after Harris: sequential addresses.
// Broken: no barrier between filling s and the first step: thread t < 64 reads s[t + 64] (line 11), which thread t +
// 64 writes (line 9). Later steps are in order.
#define THREADS 128

extern "C" __global__ void reduce3(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * THREADS + t];
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
