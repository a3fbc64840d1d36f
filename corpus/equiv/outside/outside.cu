// Kernels outside of what can be proved: the answer is unknown, whatever they compute.

// A loop that ends when the data say so.
extern "C" __global__ void until_small(const float* __restrict__ x, float* __restrict__ y, int n) {
  float v = x[threadIdx.x];
  while (v > 1.0f) v *= 0.5f;
  y[threadIdx.x] = v;
}

// An index that is data.
extern "C" __global__ void gather(const float* __restrict__ x, const int* __restrict__ at, float* __restrict__ y, int n) {
  y[threadIdx.x] = x[at[threadIdx.x]];
}

// The order in which threads come decides where they write.
extern "C" __global__ void append(const float* __restrict__ x, float* __restrict__ y, int* next) {
  int at = atomicAdd(next, 1);
  y[at] = x[threadIdx.x];
}

// A block waits for the other: works only if both are on the machine at once.
extern "C" __global__ void wait_for_block(const float* __restrict__ x, float* __restrict__ y, int* flag) {
  if (blockIdx.x == 1) {
    int seen = 0;
    if (threadIdx.x == 0)
      while (seen == 0) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    __syncthreads();
    y[32 + threadIdx.x] = x[32 + threadIdx.x];
  } else {
    y[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
  }
}

// The bits of a float, as fast inverse square roots use them.
extern "C" __global__ void bit_trick(const float* __restrict__ x, float* __restrict__ y, int n) {
  float v = x[threadIdx.x], h = 0.5f * v;
  float g = __int_as_float(0x5f3759df - (__float_as_int(v) >> 1));
  for (int i = 0; i < 3; i++) g = g * (1.5f - h * g * g);
  y[threadIdx.x] = g;
}

extern "C" __global__ void reciprocal_root(const float* __restrict__ x, float* __restrict__ y, int n) {
  y[threadIdx.x] = rsqrtf(x[threadIdx.x]);
}
