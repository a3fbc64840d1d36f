__global__ void scale(const float* x, float* y, float a) {
    y[threadIdx.x] = a * x[threadIdx.x];
}
