// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32]:inout --arg n=32
// Lines that go on: in a macro, in a name, in a comment \
   which therefore has two lines
#define STEP(a)   \
  do {            \
    (a) += 1.0f;  \
    /* inside */  \
  } while (0)

//@ extent x[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void splice(float* x, int n) {
  int ind\
ex = blockIdx.x * blockDim.x \
    + threadIdx.x;
  if (index < n) // not the end: \
    return;
    STEP(x[index]);
}
