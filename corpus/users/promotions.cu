// expect: proved
// check: --grid 1 --block 32 --arg a=u8[32]=iota --arg b=u8[32]=iota --arg lut=u8[511] --arg out=u8[32]:out --arg n=32
// Bytes are added as ints: the sum needs 511 entries, the difference may be negative.
//@ extent a[n], b[n], lut[511], out[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void blend(const unsigned char* a, const unsigned char* b, const unsigned char* lut, unsigned char* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned char p = a[i], q = b[i];
  int d = p - q;
  out[i] = d < 0 ? lut[p + q] : lut[d + 255];
}
