__global__ void wrong(float* y) {
  y[threadIdx.x] = 1.0f
}
