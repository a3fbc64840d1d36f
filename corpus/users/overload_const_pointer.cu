// expect: proved
// check: --grid 1 --block 32 --arg in=f32[32] --arg out=f32[32]:inout --arg n=32
// Constness of a pointer chooses the overload; only one of them writes.
__device__ float touch(const float* p) { return p[0]; }
__device__ float touch(float* p) { p[0] += 1.0f; return p[0]; }

//@ extent in[n], out[n];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void visit(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = touch(in) + touch(&out[i]);
}
