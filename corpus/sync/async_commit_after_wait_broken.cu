// Reverse a block's elements by way of shared memory. The pattern of csarofeen/pytorch issue 2457.
// Broken: the group is committed after the wait (line 15), which so waits for nothing: line 18 reads what the copies
// of line 14 may not have written.
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
  WAIT(0);
  COMMIT();
  __syncthreads();
  y[i] = s[THREADS - 1 - t];
}
