// expect: proved
// check: --grid 1 --block 4 --arg x=s32[40]:inout --arg rows=4 --arg n=10
// Comma in a loop's head: each thread reverses its row.
//@ extent x[rows*n];
//@ requires rows >= 0 && n >= 0 && rows*n <= 1000000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void reverse_rows(int* x, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    int* row = x + r * n;
    for (int i = 0, j = n - 1; i < j; ++i, --j) {
      int t = row[i];
      row[i] = row[j], row[j] = t;
    }
  }
}
