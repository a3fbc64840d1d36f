// expect: proved
// check: --grid 2 --block 8,8 --arg a=f32[60] --arg b=f32[60]:out --arg rows=6 --arg cols=10
// A view with member functions, a constructor and operator().
struct View {
  float* data;
  int rows, cols;
  __device__ View(float* d, int r, int c) : data(d), rows(r), cols(c) {}
  __device__ bool contains(int r, int c) const { return r >= 0 && r < rows && c >= 0 && c < cols; }
  __device__ float& operator()(int r, int c) { return data[r * cols + c]; }
};

//@ extent a[rows*cols], b[rows*cols];
//@ requires rows >= 1 && cols >= 1 && rows*cols <= 1000000 && gridDim.x*blockDim.x <= 1000000 && gridDim.y*blockDim.y <= 1000000;
__global__ void copy_view(float* a, float* b, int rows, int cols) {
  View in(a, rows, cols);
  View out(b, rows, cols);
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (in.contains(r, c)) out(r, c) = in(r, c) + (in.contains(r, c + 1) ? in(r, c + 1) : 0.0f);
}
