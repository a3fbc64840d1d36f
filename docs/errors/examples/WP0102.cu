__global__ void add_bias(const float* x, const float* bias, float* y) {
    int i = threadIdx.x;
    y[i] = x[i] + bias[i];  // launched with bias = nullptr
}
