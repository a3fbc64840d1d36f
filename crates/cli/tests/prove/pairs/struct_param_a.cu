// the reference
struct P { float x; float y; };
//@ extent a[n], c[n];
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void k(const float* a, float* c, int n, P p) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) { c[i] = p.x; }
}
