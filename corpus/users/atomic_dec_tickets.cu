// expect: proved
// check: --grid 2 --block 32 --arg tickets=u32[1]:inout=[5] --arg won=s32[64]:out
// The ticket decides what a thread writes, not where.
//@ extent tickets[1], won[gridDim.x*blockDim.x];
//@ requires gridDim.x*blockDim.x <= 2147483647;
__global__ void lottery(unsigned int* tickets, int* won) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned int ticket = atomicDec(tickets, 100u);
  unsigned int mark = atomicSub(tickets, 0u);
  won[i] = ticket > 0 && mark < 100u ? 1 : 0;
}
