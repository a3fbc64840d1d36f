// Clear the slot, then copy half of the elements on top.
// Broken: cleared after the copy was issued: the store of every fourth thread (line 16) and its own copy (line 14) are
// unordered until the wait.
#define THREADS 64
#define COPY4(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

extern "C" __global__ void copy(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * THREADS + t;
  if (t % 2 == 0) COPY4(&s[t], x + i);
  COMMIT();
  if (t % 4 == 0 || t % 2 == 1) s[t] = 0.0f;
  WAIT(0);
  y[i] = s[t];
}
