// Reverse a block's elements by way of shared memory.
// Broken: barrier and wait in the wrong order: the wait (line 17) completes the thread's own copy, but what it reads
// (line 18) was copied by thread 63 - t (line 14), which may not have waited yet; a barrier completes no copy.
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
  COMMIT();
  __syncthreads();
  WAIT(0);
  y[i] = s[THREADS - 1 - t];
}
