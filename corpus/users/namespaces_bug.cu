// expect: refuted bounds line 9
// check: --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out --arg n=32
// Inside of the namespace its own `at` is meant, which does not check.
namespace safe { __device__ inline int at(int i, int n) { return i >= n ? n - 1 : i; } }
__device__ inline int at(int i, int n) { return i >= n ? 0 : i; }

namespace fast {
__device__ inline int at(int i, int n) { return i; }
__device__ inline float next(const float *x, int i, int n) { return x[at(i + 1, n)]; }
}

//@ extent x[n], y[n];
//@ requires 1 <= n <= 1000000000 && gridDim.x*blockDim.x <= 1000000000;
__global__ void shift(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fast::next(x, i, n) + x[at(i + 1, n)] + x[safe::at(i + 1, n)];
}
