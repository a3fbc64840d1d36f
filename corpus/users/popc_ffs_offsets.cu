// expect: proved
// check: --grid 1 --block 32 --arg masks=u32[32]=iota --arg out=s32[1024]:out --arg n=32
// Positions of the bits that are set, in 32 slots for each word.
//@ extent masks[n], out[32*n];
//@ requires 0 <= n <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void expand_bits(const unsigned* masks, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned m = masks[i];
  int total = __popc(m);
  for (int k = 0; k < 32; k++) {
    int at = __ffs(m) - 1;
    out[32 * i + k] = k < total ? at : -1;
    m &= m - 1;
  }
}
