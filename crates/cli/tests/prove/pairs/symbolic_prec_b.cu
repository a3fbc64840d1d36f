// not proved: a macro of two summands
#define T 8 + 8
//@ extent a[n], c[n];
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
//@ symbolic T;
//@ requires T <= 100;
__global__ void k(const float* a, float* c, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + (i > 70000 ? 2*T - T - T : 0);
}
