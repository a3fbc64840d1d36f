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
#define DOUBLE_OF_TWO(name) \
    extern "C" __global__ void k_##name(const double* x, const double* y, double* out) { \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = name(x[i], y[i]); }
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
UNARY(asinf) UNARY(acosf) UNARY(atanf) UNARY(asinhf) UNARY(acoshf) UNARY(atanhf) UNARY(lgammaf) UNARY(normcdff)
BINARY(atan2f)
BINARY(powf) BINARY(fmodf) BINARY(hypotf) BINARY(fdividef)
POWER(pow_2, 2.0f) POWER(pow_3, 3.0f) POWER(pow_half, 0.5f) POWER(pow_minus_half, -0.5f) POWER(pow_1_5, 1.5f)
DOUBLE(exp) DOUBLE(log) DOUBLE(tanh) DOUBLE(sqrt)
DOUBLE(round) DOUBLE(exp2) DOUBLE(exp10) DOUBLE(expm1) DOUBLE(log2) DOUBLE(log10) DOUBLE(log1p) DOUBLE(sinh) DOUBLE(cosh) DOUBLE(cbrt)
DOUBLE(erf) DOUBLE(erfc) DOUBLE(erfinv) DOUBLE(normcdf) DOUBLE(asin) DOUBLE(acos) DOUBLE(atan)
DOUBLE(asinh) DOUBLE(acosh) DOUBLE(atanh)
DOUBLE_OF_TWO(atan2) DOUBLE_OF_TWO(hypot)
HALF(hexp) HALF(hexp2) HALF(hlog) HALF(hlog2) HALF(hsqrt) HALF(hrsqrt) HALF(hsin) HALF(hcos) HALF(htanh)
extern "C" __global__ void k_div(const float* x, const float* y, float* out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = x[i] / y[i]; }
extern "C" __global__ void k_recip(const float* x, float* out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = 1.0f / x[i]; }
extern "C" __global__ void k_sincosf(const float* x, float* out, float* other) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; sincosf(x[i], &out[i], &other[i]); }
