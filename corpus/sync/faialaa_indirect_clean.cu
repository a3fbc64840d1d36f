// An index goes through shared memory: M[t] = t; x = M[t]; M[x] = ... (the false alarm of FaialAA's paper).
// Thread t reads back its own t, so it writes its own slot: no race, and no barrier is needed. The empty asm keeps the
// compiler from seeing it.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ int m[64];
  int t = threadIdx.x;
  m[t] = t;
  asm volatile("" ::: "memory");
  int i = m[t];
  asm volatile("" ::: "memory");
  m[i] = 2 * i;
  y[t] = x[t] + m[t];
}
