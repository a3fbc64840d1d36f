// Blocks add to a cell under a lock.
extern "C" __global__ void kernel(int* y, int* lock) {
  if (threadIdx.x == 0) {
    while (atomicExch(lock, 1) != 0) {}
    __threadfence();
    *y += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
