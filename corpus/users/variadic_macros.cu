// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32] --arg y=f32[32]:out --arg n=32
// Logging that is compiled away, dispatch with all arguments.
#ifdef VERBOSE
#define LOG(...) printf(__VA_ARGS__)
#else
#define LOG(...)
#endif
#define CALL(f, ...) f(__VA_ARGS__)
#define ARG_COUNT_(a, b, c, N, ...) N
#define ARG_COUNT(...) ARG_COUNT_(__VA_ARGS__, 3, 2, 1)

__device__ float weighted(float a, float b, float w) { return a * w + b * (1.0f - w); }

//@ extent x[n], y[n];
//@ requires 0 <= n <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void blur3(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  LOG("thread %d of %d\n", i, n);
  if (i < n) {
    int j = i + ARG_COUNT(x, y) < n ? i + ARG_COUNT(x, y) : i;
    y[i] = CALL(weighted, x[i], x[j], 0.25f);
  }
}
