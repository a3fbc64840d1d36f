// One step of diffusion in the plane, a tile with its halo in shared memory; the rim is copied.
#define B 16
//@ extent f[h*w], g[h*w];
//@ requires blockDim.x == B && blockDim.y == B && w == gridDim.x*B && h == gridDim.y*B && w*h <= 2147483647;
//@ ensures \forall int y, x; 0 < y < h-1 && 0 < x < w-1 ==> g[y*w + x] == f[y*w + x] + c*(f[(y-1)*w + x] + f[(y+1)*w + x] + f[y*w + x-1] + f[y*w + x+1] - 4*f[y*w + x]);
//@ ensures \forall int y; 0 <= y < h ==> g[y*w] == f[y*w];
__global__ void diffusion_2d(const float* f, float* g, int w, int h, float c) {
  __shared__ float s[B+2][B+2];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x*B + tx, y = blockIdx.y*B + ty;
  s[ty+1][tx+1] = f[y*w + x];
  if (tx == 0 && x > 0) s[ty+1][0] = f[y*w + x-1];
  if (tx == B-1 && x < w-1) s[ty+1][B+1] = f[y*w + x+1];
  if (ty == 0 && y > 0) s[0][tx+1] = f[(y-1)*w + x];
  if (ty == B-1 && y < h-1) s[B+1][tx+1] = f[(y+1)*w + x];
  __syncthreads();
  float v = s[ty+1][tx+1];
  if (0 < x && x < w-1 && 0 < y && y < h-1)
    v = v + c*(s[ty][tx+1] + s[ty+2][tx+1] + s[ty+1][tx] + s[ty+1][tx+2] - 4*v);
  g[y*w + x] = v;
}
