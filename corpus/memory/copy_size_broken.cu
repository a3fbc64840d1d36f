// Copies four floats a thread to shared memory, fewer at the end of the array: `cp.async` writes zeros for those that
// are not there. Broken: the source size is all that is left of the array, and not at most the 16 bytes of a copy. Thread 0
// has 1000 (line 13), which the manual leaves undefined.
#define BLOCK 64

extern "C" __global__ void twice(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ __align__(16) float tile[4 * BLOCK];
  int i = 4 * (blockIdx.x * BLOCK + threadIdx.x);
  float* mine = tile + 4 * threadIdx.x;
  int left = 4 * max(n - i, 0);

  unsigned to = (unsigned)__cvta_generic_to_shared(mine);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(x + i), "r"(left) : "memory");
  asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
  for (int k = 0; k < 4; k++)
    if (i + k < n) y[i + k] = 2.0f * mine[k];
}
