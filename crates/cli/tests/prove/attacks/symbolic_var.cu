// not proved: a macro that is a variable
#define T q
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000 && T <= 100;
//@ symbolic T;
__global__ void k(int* b, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  int q = 5; int j = T; q = 6; if (i > 70000 && j != T) b[n] = 1;
}
