// expect: proved
// check: --grid 1 --block 32 --kernel add_kernel --arg x=f32[32] --arg y=f32[32]:inout --arg n=32
// Kernels made by pasting names.
#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define DEFINE_OP(name, expr)                                   \
  __device__ float name##_op(float a, float b) { return expr; } \
  __global__ void name##_kernel(const float* x, float* y, int n) { \
    int i = GLOBAL_INDEX;                                       \
    if (i < n) y[i] = name##_op(x[i], y[i]);                    \
  }

//@ extent x[n], y[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
DEFINE_OP(add, a + b)

//@ extent x[n], y[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
DEFINE_OP(maximum, a > b ? a : b)
