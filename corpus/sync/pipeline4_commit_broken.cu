// Sum over tiles that stream through 4 buffers in shared memory with cp.async.
// Broken: the copies in the loop are never committed, so no wait covers them (line 25), and for want of new groups the
// waits leave the last 2 of the first copies in flight (line 17): line 26 reads them, and later copies go into the
// same buffers. async-copy: never committed, at the copies of line 25.
#define THREADS 64
#define STAGES 4
#define COPY4(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

extern "C" __global__ void pipeline(const float* __restrict__ x, float* __restrict__ y, int tiles) {
  __shared__ float s[STAGES][THREADS];
  int t = threadIdx.x;
  const float* mine = x + blockIdx.x * tiles * THREADS + t;
  for (int k = 0; k < STAGES - 1; k++) {
    COPY4(&s[k][t], mine + k * THREADS);
    COMMIT();
  }
  float sum = 0.0f;
  for (int k = 0; k < tiles; k++) {
    WAIT(STAGES - 2);
    __syncthreads();
    int next = k + STAGES - 1;
    if (next < tiles) COPY4(&s[next % STAGES][t], mine + next * THREADS);
    sum += s[k % STAGES][THREADS - 1 - t];
  }
  y[blockIdx.x * THREADS + t] = sum;
}
