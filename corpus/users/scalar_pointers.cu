// expect: proved
// check: --grid 2 --block 32 --arg x=f32[60]=iota --arg count=s32[1]:inout --arg limit=f32[1]=[3] --arg n=60
// Results through `*p`: one atomically, one only read.
//@ extent x[n], count[1], limit[1];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void count_above(const float* x, int* count, const float* limit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > *limit) atomicAdd(count, 1);
}
