__global__ void guarded(const float* x, float* y) {
    int i = threadIdx.x;
    if (i < 20) {
        y[i] = x[i];
        __syncthreads();  // lanes 20 to 31 never come here
    } else {
        y[i] = 0.0f;
    }
    __syncthreads();
}
