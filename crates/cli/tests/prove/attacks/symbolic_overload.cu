// not proved: an unsigned macro calls the other overload
#define T 16u
__device__ int f(int) { return 0; } __device__ int f(unsigned) { return 1; }
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000 && T <= 100;
//@ symbolic T;
__global__ void k(int* b, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  if (i > 70000 && f(T)) b[n] = 1;
}
