__global__ void first(const float* x, float* y, int n) {
    if (n > 1024) __trap();
    y[threadIdx.x] = x[threadIdx.x];
}
