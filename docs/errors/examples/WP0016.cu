__global__ void sum(const float* x, float* y, int mode) {
    switch (mode) {
        case 0: y[threadIdx.x] = x[threadIdx.x]; break;
        default: y[threadIdx.x] = 0.0f;
    }
}
