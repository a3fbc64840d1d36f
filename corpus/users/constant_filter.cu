// expect: proved
// check: --grid 2 --block 32 --arg in=f32[40] --arg out=f32[40]:out --arg n=40
// A filter in constant memory, with its length in a macro.
#define RADIUS 2
#define TAPS (2 * RADIUS + 1)

__constant__ float filter_taps[TAPS] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

//@ extent in[n], out[n];
//@ requires 0 <= n <= 2000000000 && gridDim.x*blockDim.x <= 2000000000;
__global__ void convolve(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
#pragma unroll
  for (int k = -RADIUS; k <= RADIUS; k++) {
    int j = i + k;
    j = j < 0 ? 0 : (j >= n ? n - 1 : j);
    sum += in[j] * filter_taps[k + RADIUS];
  }
  out[i] = sum;
}
