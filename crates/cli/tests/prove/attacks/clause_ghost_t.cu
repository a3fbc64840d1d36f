// not proved: a narrow ghost variable would wrap
//@ extent b[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000;
__global__ void k(int* b, int n, int m) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  b[i] = 1;
  //@ ghost unsigned char g = i;
  //@ assert g == i;

}
