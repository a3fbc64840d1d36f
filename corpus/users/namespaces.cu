// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out --arg n=32
// The same name in two namespaces, one of them nested and reached by `using`.
namespace fast { __device__ inline int at(int i, int n) { return i; } }
namespace safe {
namespace detail { __device__ inline int limit(int n) { return n - 1; } }
__device__ inline int at(int i, int n) { return i > detail::limit(n) ? detail::limit(n) : i; }
}  // namespace safe
namespace { const int kShift = 3; }
namespace sf = safe;
using safe::at;

//@ extent x[n], y[n];
//@ requires 1 <= n <= 1000000000 && gridDim.x*blockDim.x <= 1000000000;
__global__ void shift(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[fast::at(i, n)] = x[at(i + kShift, n)] + x[sf::at(i + 2, n)] + x[::safe::at(i + 1, n)];
}
