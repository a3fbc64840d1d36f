// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out --arg kind=1 --arg n=32
// The activation is chosen by a number that the host gives, through a table of functions.
typedef float (*activation_t)(float);

__device__ float identity(float x) { return x; }
__device__ float relu(float x) { return x > 0.f ? x : 0.f; }
__device__ float leaky(float x) { return x > 0.f ? x : 0.01f * x; }

__device__ const activation_t table[3] = {identity, relu, leaky};

//@ extent x[n], y[n];
//@ requires n >= 0 && kind >= 0 && kind < 3 && gridDim.x*blockDim.x <= 2147483647;
__global__ void activate(const float* x, float* y, int kind, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[kind](x[i]);
}
