struct Dims { int width; int height; int pitch; };
struct Particle { float x, y, z; int cell; };
//@ extent p[n], count[d.width*d.height];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
//@ requires d.width >= 1 && d.height >= 1 && d.width*d.height <= 2147483647;
__global__ void bin(Particle* p, int* count, int n, Dims d) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) {
    Particle q = p[i];
    int cx = min(max((int)q.x, 0), d.width - 1);
    int cy = min(max((int)q.y, 0), d.height - 1);
    p[i].cell = cy*d.width + cx;
    atomicAdd(&count[cy*d.width + cx], 1);
  }
}
