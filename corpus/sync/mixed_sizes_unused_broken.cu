// Thread 0 writes a word while thread 32 reads a byte of it for nothing: of races between accesses of different sizes
// the manual says nothing at all.
extern "C" __global__ void kernel(const int* x, int* y) {
  __shared__ int s[2];
  int t = threadIdx.x;
  if (t == 0) s[0] = x[0];
  if (t == 32) (void)*(volatile unsigned char*)&s[0];
  __syncthreads();
  if (t == 0) y[0] = s[0];
}
