// expect: proved
// check: --grid 1 --block 32 --arg x=s32[32]:inout=iota --arg n=32
// `#` makes a text of an argument; device code only passes it on.
#include <stdio.h>
#define CHECK(cond)                                        \
  do {                                                     \
    if (!(cond)) printf("%s failed in %d\n", #cond, i);    \
  } while (0)

//@ extent x[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void verified_increment(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    CHECK(x[i] >= 0);
    x[i] = x[i] + 1;
    CHECK(x[i] != 0 && "not zero");
  }
}
