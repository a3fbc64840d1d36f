// expect: refuted bounds line 11
// The texture forgives, the array does not: the guard has the wrong side.
//@ extent out[width*height];
//@ requires width >= 1 && height >= 1 && width*height <= 100000;
//@ requires gridDim.x*blockDim.x <= 65536 && gridDim.y*blockDim.y <= 65536;
__global__ void sample(float* out, cudaTextureObject_t tex, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < width) {
    float u = x / (float)width, v = y / (float)height;
    out[y * width + x] = tex2D<float>(tex, u, v);
  }
}
