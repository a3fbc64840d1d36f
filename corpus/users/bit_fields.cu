// expect: proved-or-unsupported
// check: --grid 1 --block 32 --arg packed=u32[32]=iota --arg count=s32[16]:inout --arg n=32
// Bit fields of a packed record.
struct Record {
  unsigned kind : 4;
  unsigned weight : 12;
  unsigned id : 16;
};

//@ extent packed[n], count[16];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void count_kinds(const Record* packed, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&count[packed[i].kind], (int)packed[i].weight);
}
