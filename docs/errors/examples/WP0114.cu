__global__ void prefetch(const float* x, float* y) {
    __shared__ float tile[32];
    int i = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[i]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + i) : "memory");
    y[i] = 1.0f;  // neither cp.async.commit_group nor a wait
}
