// not proved: a narrowing cast in a clause
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000;
//@ requires (short)m == 5;
__global__ void k(int* b, int n, int m) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  if (m == 65541) b[n] = 1;
}
