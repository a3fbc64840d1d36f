// One thread copies two elements of x to shared memory.
// Broken: two copies of one group go to the same place (lines 14 and 15); copies are unordered among themselves, so
// either may win.
#define THREADS 64
#define COPY4(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

extern "C" __global__ void copy(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * THREADS + t;
  COPY4(&s[t], x + i);
  COPY4(&s[t], x + (i ^ 1));
  COMMIT();
  WAIT(0);
  y[i] = s[t];
}
