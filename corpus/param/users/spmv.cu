//@ extent rowptr[rows+1], col[nnz], val[nnz], x[cols], y[rows];
//@ requires rows >= 0 && gridDim.x*blockDim.x <= 2147483646 && nnz >= 0;
//@ requires \forall int i; 0 <= i <= rows ==> 0 <= rowptr[i] <= nnz;
//@ requires \forall int i; 0 <= i < nnz ==> 0 <= col[i] < cols;
__global__ void spmv(const int* rowptr, const int* col, const float* val, const float* x, float* y, int rows, int cols, int nnz) {
  int row = blockIdx.x*blockDim.x + threadIdx.x;
  if (row < rows) {
    float dot = 0;
    int start = rowptr[row], end = rowptr[row+1];
    for (int j = start; j < end; j++) dot += val[j]*x[col[j]];
    y[row] = dot;
  }
}
