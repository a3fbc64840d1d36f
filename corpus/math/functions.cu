// One kernel for each math function: what a compiler makes of it is what has to be recognised.
#include <cuda_fp16.h>
#define UNARY(name) \
    extern "C" __global__ void k_##name(const float* x, float* out) { \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = name(x[i]); }
#define BINARY(name) \
    extern "C" __global__ void k_##name(const float* x, const float* y, float* out) { \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = name(x[i], y[i]); }
#define DOUBLE(name) \
    extern "C" __global__ void k_##name(const double* x, double* out) { \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = name(x[i]); }
#define HALF(name) \
    extern "C" __global__ void k_##name(const half* x, half* out) { \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = name(x[i]); }
#define POWER(name, exponent) \
    extern "C" __global__ void k_##name(const float* x, float* out) { \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = powf(x[i], exponent); }
UNARY(expf) UNARY(exp2f) UNARY(exp10f) UNARY(expm1f)
UNARY(logf) UNARY(log2f) UNARY(log10f) UNARY(log1pf)
UNARY(tanhf) UNARY(sinhf) UNARY(coshf) UNARY(erff) UNARY(erfcf)
UNARY(sinf) UNARY(cosf) UNARY(tanf)
UNARY(sqrtf) UNARY(rsqrtf) UNARY(cbrtf)
UNARY(roundf) UNARY(rintf) UNARY(floorf) UNARY(ceilf) UNARY(truncf) UNARY(fabsf)
BINARY(powf) BINARY(fmodf) BINARY(hypotf) BINARY(fdividef)
POWER(pow_2, 2.0f) POWER(pow_3, 3.0f) POWER(pow_half, 0.5f) POWER(pow_minus_half, -0.5f) POWER(pow_1_5, 1.5f)
DOUBLE(exp) DOUBLE(log) DOUBLE(tanh) DOUBLE(sqrt)
HALF(hexp) HALF(hexp2) HALF(hlog) HALF(hlog2) HALF(hsqrt) HALF(hrsqrt) HALF(hsin) HALF(hcos) HALF(htanh)
extern "C" __global__ void k_div(const float* x, const float* y, float* out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = x[i] / y[i]; }
extern "C" __global__ void k_recip(const float* x, float* out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = 1.0f / x[i]; }
extern "C" __global__ void k_sincosf(const float* x, float* out, float* other) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; sincosf(x[i], &out[i], &other[i]); }
