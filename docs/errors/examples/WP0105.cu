__global__ void last_column(const float* x, float* y) {
    __shared__ float tile[32];
    int i = threadIdx.x;
    if (i < 31) tile[i] = x[i];
    __syncthreads();
    y[i] = tile[31];  // nobody wrote tile[31]
}
