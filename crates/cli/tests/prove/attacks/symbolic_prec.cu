// not proved: a macro of two summands is no number where it is multiplied
#define T 8 + 8
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000 && T <= 100;
//@ symbolic T;
__global__ void k(int* b, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  if (i > 70000 && 2*T != T + T) b[n] = 1;
}
