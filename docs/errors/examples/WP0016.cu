__global__ void first(const float* x, float* y) {
    if (x[threadIdx.x] < 0.0f) goto done;
    y[threadIdx.x] = x[threadIdx.x];
done:
    return;
}
