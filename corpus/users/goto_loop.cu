// expect: proved-or-unsupported
// check: --grid 1 --block 32 --arg x=s32[32]:inout --arg n=32
// Old style: a loop made of a label and a jump.
//@ extent x[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void collatz(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = i + 1, steps = 0;
again:
  if (v > 1 && steps < 50) {
    v = v % 2 ? (3 * (v & 0xffff) + 1) : v / 2;
    steps++;
    goto again;
  }
  x[i] = steps;
}
