// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32]:inout --arg n=32
// Function pointers that are known when the kernel is compiled.
typedef float (*activation_t)(float);

__device__ float relu(float x) { return x > 0.f ? x : 0.f; }
__device__ float leaky(float x) { return x > 0.f ? x : 0.01f * x; }

template <activation_t F>
__device__ void apply(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = F(x[i]);
}

//@ extent x[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void activate(float* x, int n) {
  apply<relu>(x, n);
  activation_t second = &leaky;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = second(x[i]) + (*second)(1.0f);
}
