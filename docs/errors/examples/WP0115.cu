//@ extent y[n];
__global__ void fill(float* y, int n) {
    // With many elements i passes 2^31 before it passes n.
    for (int i = blockIdx.x*blockDim.x + threadIdx.x; i < n; i += gridDim.x*blockDim.x) y[i] = 1.0f;
}
