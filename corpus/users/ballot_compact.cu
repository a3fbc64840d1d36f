// expect: proved-or-unknown
// check: --grid 1 --block 32 --arg x=s32[32]=iota --arg out=s32[32]:inout --arg count=s32[1]:out
// Kept elements of a warp, by the number of votes of the lanes below.
//@ extent x[32], out[32], count[1];
//@ requires blockDim.x == 32 && gridDim.x == 1;
__global__ void keep_even(const int* x, int* out, int* count) {
  unsigned lane = threadIdx.x;
  bool keep = (x[lane] & 1) == 0;
  unsigned votes = __ballot_sync(0xffffffffu, keep);
  unsigned below = votes & ((1u << lane) - 1u);
  if (keep) out[__popc(below)] = x[lane];
  if (lane == 0) *count = __popc(votes);
  if (__any_sync(0xffffffffu, keep) && lane == 31 && __all_sync(0x80000000u, 1)) count[0] += 0 * keep;
}
