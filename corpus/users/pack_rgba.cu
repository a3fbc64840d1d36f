// expect: proved
// check: --grid 1 --block 32 --arg src=f32[128] --arg dst=u32[32]:out --arg n=32
// Functional casts and shifts, as in image code.
typedef unsigned int uint;
typedef unsigned char uchar;

__device__ uint pack(float4 c) {
  return (uint(c.w * 255.0f) << 24) | (uint(c.z * 255.0f) << 16) | (uint(c.y * 255.0f) << 8) | uint(c.x * 255.0f);
}

__device__ uchar luma(uint p) { return uchar((uint(p & 0xff) * 77u + uint((p >> 8) & 0xff) * 150u + uint((p >> 16) & 0xff) * 29u) >> 8); }

//@ extent src[n], dst[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void to_gray(const float4* src, uint* dst, int n) {
  int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    uint p = pack(src[i]);
    dst[i] = (uint(0xff) << 24) | uint(luma(p)) * 0x010101u;
  }
}
