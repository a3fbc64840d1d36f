// Two roles meet at one named barrier, each at its own bar.sync. The pattern of TIRx-kernels pull request 21.
// bar.sync is aligned: the manual wants all threads of the block at one instruction, but the warps wait at two (lines
// 12 and 16). Hardware runs it: a note, an error under --strict. The accesses are in order.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

extern "C" __global__ void roles(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = x[t] + 1.0f;
    SYNC(1, 64);
    y[t] = s[63 - t] * 2.0f;
  } else {
    s[t] = x[t] - 1.0f;
    SYNC(1, 64);
    y[t] = s[63 - t] * 3.0f;
  }
}
