// expect: proved
// check: --grid 1 --block 8 --arg x=f32[20] --arg y=f32[20]:out --arg mask=u8[20]:out --arg n=20 --arg p=0.5 --arg seed=3
// ML style: mask and scale with a counter-based generator.
#include <curand_kernel.h>

//@ extent x[n], y[n], mask[n];
//@ requires 0 <= n && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void dropout_forward(const float* __restrict__ x, float* __restrict__ y, unsigned char* __restrict__ mask, int n, float p, unsigned long long seed) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, idx, 0, &state);
  const float scale = 1.0f / (1.0f - p);
  for (int i = idx; i < n; i += blockDim.x * gridDim.x) {
    unsigned char keep = curand_uniform(&state) > p;
    mask[i] = keep;
    y[i] = keep ? x[i] * scale : 0.0f;
  }
}
