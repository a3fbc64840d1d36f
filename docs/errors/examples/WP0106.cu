__global__ void wrap(const float* x, float* y, int width) {
    int i = threadIdx.x;
    y[i] = x[i % width];  // launched with width = 0
}
