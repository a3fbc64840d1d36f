// Each thread one element, blocks of any shape.
//@ extent in[h*w], out[w*h];
//@ requires w >= 1 && h >= 1 && w*h <= 2147483647;
//@ requires gridDim.x*blockDim.x >= w && gridDim.y*blockDim.y >= h;
//@ requires gridDim.x*blockDim.x <= 2147483647 && gridDim.y*blockDim.y <= 2147483647;
__global__ void transpose_naive(float* out, const float* in, int w, int h) {
  int x = blockIdx.x*blockDim.x + threadIdx.x, y = blockIdx.y*blockDim.y + threadIdx.y;
  if (x < w && y < h) out[x*h + y] = in[y*w + x];
}
