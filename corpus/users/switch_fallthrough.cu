// expect: proved-or-unknown
// check: --grid 1 --block 16 --arg x=u8[70] --arg out=u32[16]:out --arg n=70
// The tail of a hash: cases fall into each other on purpose.
//@ extent x[n], out[gridDim.x*blockDim.x];
//@ requires 4 <= n <= 1000000 && gridDim.x*blockDim.x <= 1000;
__global__ void tail_hash(const unsigned char* x, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned char* tail = x + n / 4 * 4;
  unsigned k = i;
  switch (n & 3) {
    case 3: k ^= (unsigned)tail[2] << 16;
    case 2: k ^= (unsigned)tail[1] << 8;
    case 1: k ^= tail[0];
      k *= 0xcc9e2d51u;
      break;
    case 0:
      k = ~k;
  }
  out[i] = k;
}
