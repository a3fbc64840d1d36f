// The first block waits for a flag of the second, which has not run yet, and sleeps between two looks.
extern "C" __global__ void kernel(int* y, volatile int* flag) {
  if (blockIdx.x == 1) {
    y[0] = 1;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) __nanosleep(100);
    __threadfence();
    y[1] = y[0];
  }
}
