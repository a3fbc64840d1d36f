// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32]:inout --arg n=32
// All the words that may stand before a function, in several orders.
static inline __device__ float twice(float v) { return 2.0f * v; }
__forceinline__ __device__ float plus_one(float v) { return v + 1.0f; }
__host__ __device__ static constexpr float pi() { return 3.14159f; }
__noinline__ __device__ float minus_one(const float v) { return v - 1.0f; }
extern "C" __device__ float c_linkage(float v) { return v; }

extern "C" {
//@ extent x[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void chain(float* const __restrict__ x, const int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = c_linkage(minus_one(plus_one(twice(x[i])))) + pi();
}
}
