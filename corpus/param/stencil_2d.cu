// Five points of a matrix, without its border.
//@ extent in[w*h], out[w*h];
//@ requires w >= 0 && h >= 0 && w*h <= 2147483647;
//@ requires gridDim.x*blockDim.x <= 2147483647 && gridDim.y*blockDim.y <= 2147483647;
__global__ void laplace(const float* in, float* out, int w, int h) {
  int x = blockIdx.x*blockDim.x + threadIdx.x, y = blockIdx.y*blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  out[y*w + x] = in[y*w + x - 1] + in[y*w + x + 1] + in[(y-1)*w + x] + in[(y+1)*w + x] - 4*in[y*w + x];
}
