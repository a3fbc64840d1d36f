// expect: proved
// check: --grid 2 --block 32 --arg x=f32[100]:inout --arg n=100
// A grid-stride loop over pointers.
//@ extent x[n];
//@ requires 0 <= n && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void halve(float* x, int n) {
  float* end = x + n;
  for (float* p = x + blockIdx.x * blockDim.x + threadIdx.x; p < end; p += blockDim.x * gridDim.x) {
    *p *= 0.5f;
  }
}
