// One of three groups of warps works with __syncthreads, the others wait for its result at a named barrier. The
// pattern of FlashInfer pull request 2996.
// Broken: 64 of 192 threads come to __syncthreads (line 13), which waits for all; the others wait at barrier 1 (line
// 19) for those 64.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void groups(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 64) {
    s[t] = x[t];
    __syncthreads();
    float v = s[63 - t];
    __syncthreads();
    s[t] = v;
    ARRIVE(1, 192);
  } else {
    SYNC(1, 192);
    y[t - 64] = s[t % 64];
  }
}
