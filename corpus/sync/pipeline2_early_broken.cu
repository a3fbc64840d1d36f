// Sum over tiles that stream through 2 buffers in shared memory with cp.async.
// Broken: a buffer is filled one stage too early: the copy of tile k + STAGES goes (line 24) where tile k is read in
// the same round, by thread 63 - t (line 26).
#define THREADS 64
#define STAGES 2
#define COPY4(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

extern "C" __global__ void pipeline(const float* __restrict__ x, float* __restrict__ y, int tiles) {
  __shared__ float s[STAGES][THREADS];
  int t = threadIdx.x;
  const float* mine = x + blockIdx.x * tiles * THREADS + t;
  for (int k = 0; k < STAGES; k++) {
    COPY4(&s[k][t], mine + k * THREADS);
    COMMIT();
  }
  float sum = 0.0f;
  for (int k = 0; k < tiles; k++) {
    WAIT(STAGES - 1);
    __syncthreads();
    int next = k + STAGES;
    if (next < tiles) COPY4(&s[next % STAGES][t], mine + next * THREADS);
    COMMIT();
    sum += s[k % STAGES][THREADS - 1 - t];
  }
  y[blockIdx.x * THREADS + t] = sum;
}
