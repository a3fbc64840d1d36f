// Thread 32 reads two words at once, of which thread 0 writes the second; it uses the first alone.
extern "C" __global__ void kernel(const int* x, int* y) {
  __shared__ __align__(8) int s[2];
  int t = threadIdx.x;
  if (t == 32) s[0] = x[1];
  if (t == 0) s[1] = x[0];
  if (t == 32) {
    int low, high;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(low), "=r"(high) : "r"((int)__cvta_generic_to_shared(s)) : "memory");
    y[1] = low;
  }
  __syncthreads();
  if (t == 0) y[0] = s[1];
}
