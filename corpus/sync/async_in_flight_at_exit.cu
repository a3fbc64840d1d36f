// Prefetch one element too many: the last copy is never waited for, and nobody reads it.
// The copies of line 16 are in flight when the threads end: a note, no error.
#define THREADS 64
#define COPY4(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

extern "C" __global__ void copy(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  __shared__ float spare[THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * THREADS + t;
  COPY4(&s[t], x + 2 * i);
  COMMIT();
  COPY4(&spare[t], x + 2 * i + 1);
  COMMIT();
  WAIT(1);
  y[i] = s[t];
}
