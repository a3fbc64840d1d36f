// not proved: a cast in an assertion that takes the sign away
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000;
__global__ void k(int* b, int n, int m) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  b[i] = 1;
  //@ assert (unsigned)(i - 70000) >= 70000 || i >= 70000;

}
