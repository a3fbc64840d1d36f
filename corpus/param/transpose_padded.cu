// Tiles with a column of padding, one element for each thread, ragged edges.
#define D 16
//@ extent in[h*w], out[w*h];
//@ requires blockDim.x == D && blockDim.y == D && w >= 1 && h >= 1 && w*h <= 2147483647;
//@ requires gridDim.x*D <= 2147483647;
__global__ void transpose(float* out, const float* in, int w, int h) {
  __shared__ float tile[D][D+1];
  int x = blockIdx.x*D + threadIdx.x, y = blockIdx.y*D + threadIdx.y;
  if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y*w + x];
  __syncthreads();
  x = blockIdx.y*D + threadIdx.x;
  y = blockIdx.x*D + threadIdx.y;
  if (x < h && y < w) out[y*h + x] = tile[threadIdx.x][threadIdx.y];
}
