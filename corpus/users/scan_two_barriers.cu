// expect: proved
// check: --grid 1 --block 64 --arg data=s32[64]:inout
// The same with the value kept until all have read.
//@ extent data[blockDim.x];
//@ requires gridDim.x == 1;
__global__ void scan(int* data) {
  int t = threadIdx.x;
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    int val = 0;
    if (t >= stride) val = data[t - stride];
    __syncthreads();
    data[t] += val;
    __syncthreads();
  }
}
