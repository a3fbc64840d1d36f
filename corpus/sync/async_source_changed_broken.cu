// Copy an element of x to shared memory and double it in place.
// Broken: the source is overwritten (line 16) while the copy that reads it (line 14) is in flight: the copy may take
// the new value. A checker may as well call it a race between lines 14 and 16.
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
  x[i] = 2.0f;
  WAIT(0);
  y[i] = s[t];
}
