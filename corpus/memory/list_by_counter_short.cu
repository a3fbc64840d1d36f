// Threads append to a list at the place that a counter gives them.
// The list has one place too few for 12 threads. Not decided either: unknown, and never proved.

extern "C" __global__ void list_by_counter(int* count, int* list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int place = atomicAdd(count, 1);
  list[place] = i;
}
