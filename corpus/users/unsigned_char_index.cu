// expect: proved
// check: --grid 1 --block 32 --arg text=s8[32]=iota --arg count=s32[256]:inout --arg n=32
//@ extent text[n], count[256];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void letter_count(const char* text, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned char c = text[i];
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
    atomicAdd(&count[c], 1);
  }
}
