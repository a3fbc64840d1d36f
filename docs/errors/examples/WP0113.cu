__global__ void pass_on(const float* x, float* y) {
    int i = threadIdx.x;
    y[i] = __shfl_down_sync(0x0000ffff, x[i], 1);  // called by all 32 lanes
}
