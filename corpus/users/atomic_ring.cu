// expect: proved-or-unknown
// check: --grid 1 --block 32 --arg x=s32[32]=iota --arg head=u32[1]:inout=[0] --arg log=s32[64]:inout --arg n=32
// A ring of 64 slots: the old value of atomicInc never exceeds its limit if it began so.
#define SLOTS 64

//@ extent x[n], head[1], log[SLOTS];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 64;
__global__ void append(const int* x, unsigned* head, int* log, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] != 0) {
    unsigned slot = atomicInc(head, SLOTS - 1);
    atomicExch(&log[slot & (SLOTS - 1)], x[i]);
  }
}
