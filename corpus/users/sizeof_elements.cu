// expect: proved
// check: --grid 1 --block 32 --arg x=s32[32]=iota --arg y=s32[32]:out --arg n=32
// The length of a table from its size in bytes; `sizeof` is not a signed number.
__constant__ int steps[] = {1, 4, 10, 23, 57, 132};
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

//@ extent x[n], y[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void quantise(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0;
  for (size_t k = 0; k < COUNT_OF(steps); k++)
    if (x[i] >= steps[k]) best = (int)k;
  y[i] = steps[best];
}
