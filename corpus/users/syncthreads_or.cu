// expect: proved
// check: --grid 1 --block 32 --arg x=s32[32]=iota --arg out=s32[1]:out
// A barrier that also votes.
//@ extent x[gridDim.x*blockDim.x], out[gridDim.x];
//@ requires gridDim.x*blockDim.x <= 2147483647;
__global__ void any_negative(const int* x, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int any = __syncthreads_or(x[i] < 0);
  int all = __syncthreads_and(x[i] > -100);
  int many = __syncthreads_count(x[i] & 1);
  if (threadIdx.x == 0) out[blockIdx.x] = (any ? 1 : 0) + (all ? 2 : 0) + 4 * many;
}
