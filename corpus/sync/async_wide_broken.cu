// Sixteen bytes at a time: a quarter of the threads copy the tile, all of them read it.
// Broken: no barrier after the wait: all threads but thread 0 read (line 18) a part of what another thread copies
// (line 15).
#define THREADS 64
#define COPY4(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

extern "C" __global__ void copy(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ __align__(16) float s[THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * THREADS + t;
  if (t < THREADS / 4)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(&s[4 * t])), "l"(x + blockIdx.x * THREADS + 4 * t) : "memory");
  COMMIT();
  WAIT(0);
  y[i] = s[t];
}
