// not proved: a cast in a clause that takes the sign away
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000;
//@ requires (unsigned)m > 70000;
__global__ void k(int* b, int n, int m) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  if (m == -70000) b[n] = 1;
}
