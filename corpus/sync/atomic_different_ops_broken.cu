// A sum and a maximum.
// Broken: addition (line 6) and maximum (line 8) on one cell do not commute: the result depends on their order.
extern "C" __global__ void kernel(const int* __restrict__ x, int* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i % 2 == 0)
    atomicAdd(&y[0], x[i]);
  else
    atomicMax(&y[0], x[i]);
}
