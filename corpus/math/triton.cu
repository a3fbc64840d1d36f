// What the Triton kernels of corpus/ptx/triton compute, as CUDA.
#include <cuda_fp16.h>
#define KERNEL extern "C" __global__ void

KERNEL softmax(const float* x, float* o, int stride, int n) {
    x += blockIdx.x * stride, o += blockIdx.x * stride;
    float m = x[0], s = 0;
    for (int i = 1; i < n; i++) m = fmaxf(m, x[i]);
    for (int i = 0; i < n; i++) s += expf(x[i] - m);
    for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = expf(x[i] - m) / s;
}
KERNEL layernorm(const __half* x, const float* w, const float* b, __half* o, int stride, int n, float eps) {
    x += blockIdx.x * stride, o += blockIdx.x * stride;
    float mean = 0, var = 0;
    for (int i = 0; i < n; i++) mean += __half2float(x[i]);
    mean /= n;
    for (int i = 0; i < n; i++) var += (__half2float(x[i]) - mean) * (__half2float(x[i]) - mean);
    float r = 1.0f / sqrtf(var / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = __float2half((__half2float(x[i]) - mean) * r * w[i] + b[i]);
}
KERNEL mathops(const float* x, float* o) {
    const int B = 128;
    int i = threadIdx.x;
    float v = x[i];
    o += i;
    o[0] = expf(v), o[B] = logf(v), o[2 * B] = sqrtf(v), o[3 * B] = rsqrtf(v), o[4 * B] = sinf(v), o[5 * B] = erff(v);
    o[6 * B] = 1.0f / (1.0f + expf(-v)), o[7 * B] = v / (1.0f + v), o[8 * B] = exp2f(v), o[9 * B] = cosf(v);
    o[10 * B] = fabsf(v), o[11 * B] = floorf(v), o[12 * B] = v / (3.0f + v), o[13 * B] = sqrtf(v), o[14 * B] = log2f(v);
    o[15 * B] = fmaxf(v, 0.0f), o[16 * B] = fmaf(v, v, v);
}

// Mistakes.
KERNEL softmax_base_two(const float* x, float* o, int stride, int n) {
    x += blockIdx.x * stride, o += blockIdx.x * stride;
    float m = x[0], s = 0;
    for (int i = 1; i < n; i++) m = fmaxf(m, x[i]);
    for (int i = 0; i < n; i++) s += exp2f(x[i] - m);
    for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = exp2f(x[i] - m) / s;
}
KERNEL layernorm_no_eps(const __half* x, const float* w, const float* b, __half* o, int stride, int n, float eps) {
    x += blockIdx.x * stride, o += blockIdx.x * stride;
    float mean = 0, var = 0;
    for (int i = 0; i < n; i++) mean += __half2float(x[i]);
    mean /= n;
    for (int i = 0; i < n; i++) var += (__half2float(x[i]) - mean) * (__half2float(x[i]) - mean);
    float r = 1.0f / sqrtf(var / n);
    for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = __float2half((__half2float(x[i]) - mean) * r * w[i] + b[i]);
}
