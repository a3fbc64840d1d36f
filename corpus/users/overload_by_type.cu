// expect: proved
// check: --grid 1 --block 32 --arg u=f32[32] --arg y=f32[16]:inout --arg n=32
// Which `cell` is called depends on the argument's type.
__device__ int cell(float u) { return u <= 0.f ? 0 : u >= 1.f ? 15 : (int)(u * 15.99f); }
__device__ int cell(int i) { return i & 15; }
__device__ int cell(unsigned i) { return (int)(i % 16u); }
__device__ int cell(short i) { return i < 0 ? 0 : i > 15 ? 15 : i; }

//@ extent u[n], y[16];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void scatter(const float* u, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  short s = (short)(i % 100);
  atomicAdd(&y[cell(i)], 1.0f);
  atomicAdd(&y[cell(threadIdx.x)], 2.0f);
  atomicAdd(&y[cell(s)], 3.0f);
  atomicAdd(&y[cell(i > 7 ? 'a' : 'b')], 4.0f);
}
