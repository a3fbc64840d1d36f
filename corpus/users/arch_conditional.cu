// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32] --arg out=f32[1]:out
// Old and new shuffles; the compiler for sm_80 sees the new one only.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define SHFL_DOWN(v, d) __shfl_down_sync(0xffffffffu, v, d)
#elif defined(__CUDA_ARCH__)
#define SHFL_DOWN(v, d) __shfl_down(v, d)
#else
#define SHFL_DOWN(v, d) (v)
#endif

//@ extent x[32], out[1];
//@ requires blockDim.x == 32 && gridDim.x == 1;
__global__ void warp_sum(const float* x, float* out) {
  float v = x[threadIdx.x];
#if __CUDA_ARCH__ < 300
#error "too old"
#endif
  for (int d = 16; d > 0; d >>= 1) v += SHFL_DOWN(v, d);
  if (threadIdx.x == 0) out[0] = v;
}
