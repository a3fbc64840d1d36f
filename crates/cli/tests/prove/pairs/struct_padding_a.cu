// the reference
struct P { float x; float y; };
//@ extent a[n], c[n];
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void k(const float* a, P* c, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) { c[i].x = a[i]; c[i].y = 1; }
}
