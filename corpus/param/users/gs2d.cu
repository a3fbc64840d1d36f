//@ extent in[w*h], out[w*h];
//@ requires w >= 0 && h >= 0 && w*h <= 2147483647;
//@ requires w + gridDim.x*blockDim.x <= 2147483647 && h + gridDim.y*blockDim.y <= 2147483647;
__global__ void scale2d(const float* in, float* out, int w, int h, float s) {
  for (int y = blockIdx.y*blockDim.y + threadIdx.y; y < h; y += gridDim.y*blockDim.y)
    for (int x = blockIdx.x*blockDim.x + threadIdx.x; x < w; x += gridDim.x*blockDim.x)
      out[y*w + x] = s * in[y*w + x];
}
