// expect: proved-or-unknown
// check: --grid 1 --block 32 --arg left=s32[64]=iota --arg depth=s32[32]:out --arg n=32
// A small stack with ++ and -- in its indices; the right side of `=` comes first (C++17).
#define MAX_DEPTH 8

//@ extent left[2*n], depth[n];
//@ requires 0 <= n <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void walk(const int* left, int* depth, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[MAX_DEPTH], top = 0, most = 0;
  stack[top++] = i;
  for (int steps = 0; steps < 20 && top > 0; steps++) {
    int node = stack[--top];
    if (node % 3 == 0 && top + 2 <= MAX_DEPTH) {
      stack[top++] = left[2 * i] & 15;
      stack[top - 1] = top++ * 2;
      if (top > MAX_DEPTH) return;
    }
    most = top > most ? top : most;
  }
  depth[i] = most;
}
