// not proved: a narrow parameter of a predicate would wrap
//@ predicate p(unsigned char x) = x == 5;
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000;
//@ requires p(m);
__global__ void k(int* b, int n, int m) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  if (m == 65541) b[n] = 1;
}
