// The second block waits for a volatile flag of the first.
extern "C" __global__ void kernel(int* y, volatile int* flag) {
  if (blockIdx.x == 0) {
    y[0] = 1;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {}
    __threadfence();
    y[1] = y[0];
  }
}
