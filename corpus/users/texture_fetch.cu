// expect: proved
// Sparse matrix times vector with the vector in a texture, as older codes have it: a fetch outside is not an error.
//@ extent vals[nnz], cols[nnz], row_ptr[rows + 1], y[rows];
//@ requires rows >= 0 && nnz >= 0 && rows <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
//@ requires \forall int i; 0 <= i <= rows ==> 0 <= row_ptr[i] <= nnz;
__global__ void spmv_tex(cudaTextureObject_t x, const float* vals, const int* cols, const int* row_ptr, float* y, int rows, int nnz) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    int end = row_ptr[row + 1];
    for (int j = row_ptr[row]; j < end; j++) sum += vals[j] * tex1Dfetch<float>(x, cols[j]);
    y[row] = sum;
  }
}
