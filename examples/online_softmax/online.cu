// Softmax with one pass for maximum and sum. A part of a row is its maximum and the sum of its exponentials, relative
// to that maximum; parts are joined, by each thread and then in a tree. The block is a power of two.
__device__ float2 join(float2 a, float2 b) {
    float top = fmaxf(a.x, b.x);
    return make_float2(top, a.y * expf(a.x - top) + b.y * expf(b.x - top));
}

extern "C" __global__ void online(const float* x, float* y, int columns) {
    __shared__ float2 parts[256];
    int t = threadIdx.x;
    x += blockIdx.x * columns;
    y += blockIdx.x * columns;
    float2 part = make_float2(x[t], 1.0f);
    for (int i = t + blockDim.x; i < columns; i += blockDim.x) part = join(part, make_float2(x[i], 1.0f));
    parts[t] = part;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) parts[t] = join(parts[t], parts[t + half]);
    }
    __syncthreads();
    part = parts[0];
    for (int i = t; i < columns; i += blockDim.x) y[i] = expf(x[i] - part.x) / part.y;
}
