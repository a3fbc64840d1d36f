// Two blocks clear the same eight bytes.
// Broken: one block clears them as a pair (line 6), the other one by one (lines 8 and 9). The values are the same, but
// of writes that overlap in part the memory model says nothing.
extern "C" __global__ void kernel(int* y) {
  if (blockIdx.x == 0) {
    *(volatile long long*)y = 0;
  } else {
    ((volatile int*)y)[0] = 0;
    ((volatile int*)y)[1] = 0;
  }
}
