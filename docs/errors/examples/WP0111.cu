__global__ void pair(float* y) {
    asm volatile("barrier.sync 1, 48;" ::: "memory");  // 48 is no multiple of 32
    y[threadIdx.x] = 1.0f;
}
