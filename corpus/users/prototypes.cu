// expect: proved
// check: --grid 1 --block 32 --arg in=f32[30] --arg out=f32[30]:out --arg n=30
// Prototypes first, some without names of parameters, one that is never defined nor used.
__device__ float horner(float, const float*, int);
__device__ float clamp01(float);
__device__ void never_defined(int, float*);
__global__ void evaluate(const float*, float*, int);

__constant__ float coefficients[4] = {1.0f, -0.5f, 0.25f, -0.125f};

//@ extent in[n], out[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void evaluate(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = clamp01(horner(in[i], coefficients, 4));
}

__device__ float horner(float x, const float* c, int degree) {
  float sum = 0.0f;
  for (int k = degree - 1; k >= 0; --k) sum = sum * x + c[k];
  return sum;
}

__device__ float clamp01(float v) { return v < 0.0f ? 0.0f : (v > 1.0f ? 1.0f : v); }
