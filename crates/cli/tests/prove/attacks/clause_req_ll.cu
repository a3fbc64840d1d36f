// not proved: a narrowing cast in a clause
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000;
//@ requires (int)m == 5;
__global__ void k(int* b, int n, long long m) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  if (m == 4294967301) b[n] = 1;
}
