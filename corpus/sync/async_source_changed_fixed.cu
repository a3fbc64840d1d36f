// Copy an element of x to shared memory and double it in place.
// Fixed: the copy is complete before its source changes.
#define THREADS 64
#define COPY4(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

extern "C" __global__ void copy(float* x, float* y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * THREADS + t;
  COPY4(&s[t], x + i);
  COMMIT();
  WAIT(0);
  x[i] = 2.0f;
  y[i] = s[t];
}
