// not proved: a symbolic macro is an int, this one a char
#define T 'a'
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000 && T <= 100;
//@ symbolic T;
__global__ void k(int* b, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  if (i > 70000 && sizeof(T) == 1) b[n] = 1;
}
