// expect: refuted bounds line 16
// check: --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out --arg kind=1 --arg n=32
// A kind was added to the enumeration and not to the table.
typedef float (*activation_t)(float);

__device__ float identity(float x) { return x; }
__device__ float relu(float x) { return x > 0.f ? x : 0.f; }

enum Kind { IDENTITY, RELU, LEAKY, KINDS };
__device__ const activation_t table[] = {identity, relu};

//@ extent x[n], y[n];
//@ requires n >= 1 && kind >= 0 && kind < 3 && gridDim.x*blockDim.x <= 2147483647;
__global__ void activate(const float* x, float* y, int kind, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && kind < KINDS) y[i] = table[kind](x[i]);
}
