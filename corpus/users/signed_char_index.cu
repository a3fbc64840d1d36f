// expect: refuted bounds line 10
// check: --grid 1 --block 32 --arg text=s8[32]=[-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3,-3] --arg count=s32[256]:inout --arg n=32
// `char` is signed: bytes above 127 are negative indices.
//@ extent text[n], count[256];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void letter_count(const char* text, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    char c = text[i];
    atomicAdd(&count[c], 1);
  }
}
