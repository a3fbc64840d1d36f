// An index goes through shared memory: M[t] = t; x = M[t]; M[x] = ... (the false alarm of FaialAA's paper).
// Broken: the index is that of the next thread: thread t writes slot t + 1 (line 11), which thread t + 1 writes (line
// 7) and reads (line 9).
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ int m[64];
  int t = threadIdx.x;
  m[t] = (t + 1) % 64;
  asm volatile("" ::: "memory");
  int i = m[t];
  asm volatile("" ::: "memory");
  m[i] = 2 * i;
  __syncthreads();
  y[t] = x[t] + m[t];
}
