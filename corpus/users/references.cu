// expect: proved
// check: --grid 1 --block 16 --arg x=s32[32]:inout=iota --arg n=16
// References to locals, to elements and to other references.
__device__ void sort2(int& a, int& b) {
  if (b < a) {
    int t = a;
    a = b;
    b = t;
  }
}

//@ extent x[2*n];
//@ requires 0 <= n <= 1000000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void sort_pairs(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int& first = x[2 * i];
    int& second = (&first)[1];
    sort2(first, second);
    const int& smaller = first;
    int copy = smaller;
    sort2(copy, second);
  }
}
