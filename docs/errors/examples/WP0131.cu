__global__ void fill(float* y) { y[threadIdx.x] = 1.0f; }
