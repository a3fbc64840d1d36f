// expect: proved
// check: --grid 2 --block 32 --arg x=f32[40] --arg y=f32[40]:inout --arg n=40 --arg s=2.5
// Attributes in the places where GCC-minded people put them.
struct __attribute__((aligned(8))) Pair { float a; float b; };

static __device__ __attribute__((always_inline)) inline float mix_pair(struct Pair p) {
  return p.a * 0.5f + p.b;
}

__device__ __attribute__((noinline)) float scaled(float v, float s __attribute__((unused))) {
  return v + v;
}

//@ extent x[n], y[n];
//@ requires 0 <= n && gridDim.x*blockDim.x <= 2147483647;
extern "C" __global__ void __attribute__((used)) blend(const float* x, float* y, int n, float s) {
  int i __attribute__((unused)) = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Pair p = {x[i], y[i]};
  y[i] = mix_pair(p) + scaled(x[i], s);
}
