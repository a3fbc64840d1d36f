// expect: proved
// Box blur from a 2D texture; coordinates outside are clamped by the hardware.
typedef unsigned int uint;

//@ extent out[width*height];
//@ requires width >= 1 && height >= 1 && width*height <= 2147483647;
//@ requires gridDim.x*blockDim.x <= 2147483647 && gridDim.y*blockDim.y <= 2147483647;
extern "C" __global__ void blur(float* out, cudaTextureObject_t tex, uint width, uint height, int radius) {
  uint x = blockIdx.x * blockDim.x + threadIdx.x;
  uint y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.f;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      sum += tex2D<float>(tex, (float)x + dx + 0.5f, (float)y + dy + 0.5f);
  out[y * width + x] = sum / 9.0f;
}
