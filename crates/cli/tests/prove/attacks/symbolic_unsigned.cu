// not proved: an unsigned macro makes a division unsigned
#define T 16u
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000 && T <= 100;
//@ symbolic T;
__global__ void k(int* b, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  if (i > 70000 && -1 / T > 5) b[n] = 1;
}
