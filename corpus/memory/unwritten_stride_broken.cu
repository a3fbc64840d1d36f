// Add a bias to every column, with a grid-stride loop.
// Broken: the loop steps by twice the size of the grid: of the 512 elements, out[128] to out[255] and out[384] to out[511]
// are never written (the only store is on line 8).
extern "C" __global__ void add_bias(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ out,
                                    int rows, int cols) {
  int step = 2 * gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += step)
    out[i] = x[i] + bias[i % cols];
}
