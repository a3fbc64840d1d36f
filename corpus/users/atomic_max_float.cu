// expect: proved
// check: --grid 2 --block 32 --arg x=f32[60] --arg best=f32[1]:inout=[0] --arg hits=s32[1]:inout=[0] --arg n=60
// Own overload of a name that CUDA has for integers.
__device__ float atomicMax(float* address, float value) {
  int* as_int = (int*)address;
  int old = atomicCAS(as_int, 0, 0), assumed;
  do {
    assumed = old;
    old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}

//@ extent x[n], best[1], hits[1];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void maximum(const float* x, float* best, int* hits, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicMax(hits, i);
    atomicMax(best, x[i]);
  }
}
