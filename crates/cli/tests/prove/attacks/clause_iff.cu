// not proved: a condition that doubles with each `<==>`
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 100000;
//@ requires n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0 <==> n > 0;
__global__ void k(int* b, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  b[i]=1;
}
