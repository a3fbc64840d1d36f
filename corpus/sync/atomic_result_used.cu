// Threads take slots of a list by atomic addition.
// The result of the addition (line 6) becomes an address (line 7): which thread gets which slot depends on the
// schedule. The kernel leaves the class that can be checked; no race is claimed and none excluded.
extern "C" __global__ void kernel(const int* __restrict__ x, int* y, int* list) {
  int i = blockIdx.x * 64 + threadIdx.x;
  int slot = atomicAdd(&y[0], 1);
  list[slot] = x[i];
}
