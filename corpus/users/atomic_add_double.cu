// expect: proved
// check: --grid 2 --block 32 --arg x=f64[60] --arg sum=f64[1]:inout=[0] --arg n=60
// The programming guide's addition of doubles for devices that have none, by compare and swap on the bits.
__device__ double add(double* address, double value) {
  unsigned long long* as_bits = (unsigned long long*)address;
  unsigned long long old = atomicCAS(as_bits, 0ull, 0ull), assumed;
  do {
    assumed = old;
    old = atomicCAS(as_bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}

//@ extent x[n], sum[1];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void total(const double* x, double* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) add(sum, x[i]);
}
