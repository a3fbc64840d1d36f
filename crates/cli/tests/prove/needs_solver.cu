// Tiles of 32 by 32, several rows for each thread, padded against bank conflicts.
#define D 32
//@ extent in[h*w], out[w*h];
//@ requires blockDim.x == D && D % blockDim.y == 0 && w == gridDim.x*D && h == gridDim.y*D;
//@ requires w*h <= 2147483647;
__global__ void transpose(float* out, const float* in, int w, int h) {
  __shared__ float tile[D][D+1];
  int x = blockIdx.x*D + threadIdx.x, y = blockIdx.y*D + threadIdx.y;
  for (int j = 0; j < D; j += blockDim.y) tile[threadIdx.y+j][threadIdx.x] = in[(y+j)*w + x];
  __syncthreads();
  x = blockIdx.y*D + threadIdx.x; y = blockIdx.x*D + threadIdx.y;
  for (int j = 0; j < D; j += blockDim.y) out[(y+j)*h + x] = tile[threadIdx.x][threadIdx.y+j];
}
