__global__ void halves(float* y) {
    if (threadIdx.x >= 32) return;
    asm volatile("barrier.sync 1, 64;" ::: "memory");  // only 32 threads come
    y[threadIdx.x] = 1.0f;
}
