// The second block waits until the first has stored its result.
extern "C" __global__ void kernel(int* y, int* flag) {
  if (blockIdx.x == 0) {
    y[0] = 1;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    y[1] = y[0];
  }
}
