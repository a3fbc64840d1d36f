// Red-4 of VOLTA's Table 1 at its size: 128 values for each block, by 64 threads that add two while they load.
extern "C" __global__ void red4(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  int i = blockIdx.x * 128 + t;
  s[t] = x[i] + x[i + 64];
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}

// VOLTA, section 6.2: 64 threads read 48 elements of shared memory, and only 48 of them use what they read.
template <bool GUARDED>
__device__ void halves(const int* x, int* y) {
  __shared__ volatile int a[48];
  int t = threadIdx.x;
  if (t < 48) a[t] = x[t];
  __syncthreads();
  if (GUARDED) {
    if (t < 48) y[t] = 2 * a[t];
  } else {
    int v = a[t];
    if (t < 48) y[t] = 2 * v;
  }
}
extern "C" __global__ void read_past_end(const int* x, int* y) { halves<false>(x, y); }
extern "C" __global__ void read_inside(const int* x, int* y) { halves<true>(x, y); }
