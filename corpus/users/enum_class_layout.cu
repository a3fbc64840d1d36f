// expect: proved
// check: --grid 1 --block 16 --arg in=f32[48] --arg out=f32[48]:out --arg rows=6 --arg cols=8
// Scoped enumeration as template argument.
enum class Layout : unsigned char { RowMajor, ColumnMajor };

template <Layout L>
__device__ __forceinline__ int at(int r, int c, int rows, int cols) {
  return L == Layout::RowMajor ? r * cols + c : c * rows + r;
}

//@ extent in[rows*cols], out[rows*cols];
//@ requires rows >= 1 && cols >= 1 && rows*cols <= 2147483647 && gridDim.x*blockDim.x <= 2147483647;
__global__ void relayout(const float* in, float* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows)
    for (int c = 0; c < cols; c++)
      out[at<Layout::ColumnMajor>(r, c, rows, cols)] = in[at<Layout::RowMajor>(r, c, rows, cols)];
}
