// Two tiles through two buffers, then the result goes through the first buffer again. The pattern of CUTLASS issue
// 1326.
// Broken: the last wait (line 19) leaves the copy into s[1] (line 17) in flight, and the epilogue stores there (line
// 24) and reads from there (line 26): the copy may overwrite the result.
#define THREADS 64
#define COPY4(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

extern "C" __global__ void copy(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[2][THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * THREADS + t;
  COPY4(&s[0][t], x + 2 * i);
  COMMIT();
  COPY4(&s[1][t], x + 2 * i + 1);
  COMMIT();
  WAIT(1);
  __syncthreads();
  float v = s[0][t ^ 1];
  __syncthreads();
  s[0][t] = v;
  s[1][t] = -v;
  __syncthreads();
  y[i] = s[0][THREADS - 1 - t] + s[1][t ^ 3];
}
