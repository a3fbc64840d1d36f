// Scale a vector.
// Broken: nothing stops the threads past n. With n = 250 and two blocks of 128, threads 122 to 127 of block 1
// read x[250] to x[255] (line 7) and write y[250] to y[255] (line 8).
extern "C" __global__ void scale(const float* __restrict__ x, float* __restrict__ y, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;

  float v = x[i];
  y[i] = alpha * v;
}
