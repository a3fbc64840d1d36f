// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32]:inout --arg n=32
// A macro has another value further down; what it was used for keeps the first.
#define WIDTH 4
__device__ int wrap4(int i) { return i % WIDTH; }
#undef WIDTH
#define WIDTH 8
#ifdef WIDTH
#if WIDTH > 4
#define LIMIT (WIDTH - 1)
#else
#define LIMIT WIDTH
#endif
#endif

//@ extent x[n];
//@ requires 8 <= n && gridDim.x == 1;
__global__ void rotate(float* x, int n) {
  int t = threadIdx.x;
  float table[WIDTH];
  for (int k = 0; k <= LIMIT; k++) table[k] = (float)k;
  if (t < n) x[t] += table[wrap4(t)] + table[t & LIMIT];
}
