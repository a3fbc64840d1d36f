//@ extent y[n];
__global__ void fill(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 1.0f;  // with more than 2^31 threads i is negative
}
