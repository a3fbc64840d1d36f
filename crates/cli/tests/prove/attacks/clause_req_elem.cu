// not proved: a narrowing cast of an element in a clause
//@ extent b[n], a[n];
//@ requires n == gridDim.x*blockDim.x && n <= 10000000;
//@ requires \forall int j; 0 <= j < n ==> 0 <= (signed char)a[j] < 5;
__global__ void k(int* b, int n, const int* a) {
  int i = blockIdx.x*blockDim.x + threadIdx.x; int t = threadIdx.x;
  b[a[i] < 256 ? 0 : n] = 1;
}
