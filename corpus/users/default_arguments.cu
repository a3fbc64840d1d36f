// expect: proved
// check: --grid 2 --block 32 --arg img=u8[64] --arg out=u8[64]:out --arg w=64
__device__ int wrap_index(int i, int n, int step = 1) {
  int j = i + step;
  return j >= n ? j - n : j;
}

__device__ inline unsigned char threshold(unsigned char v, int level = 128, unsigned char high = 255) {
  return v > level ? high : 0;
}

//@ extent img[w], out[w];
//@ requires 8 <= w <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void edges(const unsigned char* img, unsigned char* out, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) {
    int a = img[wrap_index(x, w)];
    int b = img[wrap_index(x, w, 4)];
    out[x] = threshold((unsigned char)(a > b ? a - b : b - a), 16);
  }
}
