// Keeps calls of the math library opaque, so that PTX has `call vt_expf` instead of the library's code. Warpproof
// takes `vt_*` functions without a body for the functions of their names (docs/math.md). What comes out cannot be linked.
//
//     nvcc -ptx -rdc=true -include warpproof_math.h kernel.cu
//
// With NVRTC: `--relocatable-device-code=true`, and `#include "warpproof_math.h"` at the top. Functions are opaque in device
// code alone. Names are macros: include it before code that calls them and after headers that define them; those of the
// C library and of halves are included here.
#ifndef WARPPROOF_MATH_H
#define WARPPROOF_MATH_H

#ifndef __CUDACC_RTC__
#include <cmath>
#endif
#if defined(__has_include)
#if __has_include(<cuda_fp16.h>)
#include <cuda_fp16.h>
#endif
#if __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#endif
#endif

extern "C" {
__device__ float vt_expf(float);
__device__ double vt_exp(double);
__device__ float vt_exp2f(float);
__device__ double vt_exp2(double);
__device__ float vt_exp10f(float);
__device__ double vt_exp10(double);
__device__ float vt_expm1f(float);
__device__ double vt_expm1(double);
__device__ float vt_logf(float);
__device__ double vt_log(double);
__device__ float vt_log2f(float);
__device__ double vt_log2(double);
__device__ float vt_log10f(float);
__device__ double vt_log10(double);
__device__ float vt_log1pf(float);
__device__ double vt_log1p(double);
__device__ float vt_tanhf(float);
__device__ double vt_tanh(double);
__device__ float vt_sinhf(float);
__device__ double vt_sinh(double);
__device__ float vt_coshf(float);
__device__ double vt_cosh(double);
__device__ float vt_erff(float);
__device__ double vt_erf(double);
__device__ float vt_erfcf(float);
__device__ double vt_erfc(double);
__device__ float vt_sinf(float);
__device__ double vt_sin(double);
__device__ float vt_cosf(float);
__device__ double vt_cos(double);
__device__ float vt_tanf(float);
__device__ double vt_tan(double);
__device__ float vt_cbrtf(float);
__device__ double vt_cbrt(double);
__device__ float vt_roundf(float);
__device__ double vt_round(double);
__device__ float vt_asinf(float);
__device__ double vt_asin(double);
__device__ float vt_acosf(float);
__device__ double vt_acos(double);
__device__ float vt_atanf(float);
__device__ double vt_atan(double);
__device__ float vt_asinhf(float);
__device__ double vt_asinh(double);
__device__ float vt_acoshf(float);
__device__ double vt_acosh(double);
__device__ float vt_atanhf(float);
__device__ double vt_atanh(double);
__device__ float vt_erfinvf(float);
__device__ double vt_erfinv(double);
__device__ float vt_normcdff(float);
__device__ double vt_normcdf(double);
__device__ float vt_lgammaf(float);
__device__ double vt_lgamma(double);
__device__ float vt_powf(float, float);
__device__ double vt_pow(double, double);
__device__ float vt_hypotf(float, float);
__device__ double vt_hypot(double, double);
__device__ float vt_fmodf(float, float);
__device__ double vt_fmod(double, double);
__device__ float vt_atan2f(float, float);
__device__ double vt_atan2(double, double);
__device__ float vt_fast_powf(float, float);
}

#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
#define WARPPROOF_MATH(opaque, library) opaque
#else
#define WARPPROOF_MATH(opaque, library) library
#endif
#define WARPPROOF_BOTH static __host__ __device__ __forceinline__
#define WARPPROOF_ONE(name) \
    WARPPROOF_BOTH float name##f(float x) { return WARPPROOF_MATH(vt_##name##f(x), ::name##f(x)); } \
    WARPPROOF_BOTH float name(float x) { return name##f(x); } \
    WARPPROOF_BOTH double name(double x) { return WARPPROOF_MATH(vt_##name(x), ::name(x)); }
#define WARPPROOF_TWO(name) \
    WARPPROOF_BOTH float name##f(float x, float y) { return WARPPROOF_MATH(vt_##name##f(x, y), ::name##f(x, y)); } \
    WARPPROOF_BOTH float name(float x, float y) { return name##f(x, y); } \
    WARPPROOF_BOTH double name(double x, double y) { return WARPPROOF_MATH(vt_##name(x, y), ::name(x, y)); }

namespace warpproof_math {
WARPPROOF_ONE(exp)
WARPPROOF_ONE(exp2)
WARPPROOF_ONE(exp10)
WARPPROOF_ONE(expm1)
WARPPROOF_ONE(log)
WARPPROOF_ONE(log2)
WARPPROOF_ONE(log10)
WARPPROOF_ONE(log1p)
WARPPROOF_ONE(tanh)
WARPPROOF_ONE(sinh)
WARPPROOF_ONE(cosh)
WARPPROOF_ONE(erf)
WARPPROOF_ONE(erfc)
WARPPROOF_ONE(sin)
WARPPROOF_ONE(cos)
WARPPROOF_ONE(tan)
WARPPROOF_ONE(cbrt)
WARPPROOF_ONE(round)
WARPPROOF_ONE(asin)
WARPPROOF_ONE(acos)
WARPPROOF_ONE(atan)
WARPPROOF_ONE(asinh)
WARPPROOF_ONE(acosh)
WARPPROOF_ONE(atanh)
WARPPROOF_ONE(erfinv)
WARPPROOF_ONE(normcdf)
WARPPROOF_ONE(lgamma)
WARPPROOF_TWO(pow)
WARPPROOF_TWO(hypot)
WARPPROOF_TWO(fmod)
WARPPROOF_TWO(atan2)
WARPPROOF_BOTH void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
WARPPROOF_BOTH void sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }
static __device__ __forceinline__ float fast_powf(float x, float y) { return vt_fast_powf(x, y); }
}
// `std::expf` becomes `std::warpproof_math::expf`.
namespace std {
namespace warpproof_math {
using namespace ::warpproof_math;
}
}

#define expf(x) warpproof_math::expf(x)
#define exp(x) warpproof_math::exp(x)
#define exp2f(x) warpproof_math::exp2f(x)
#define exp2(x) warpproof_math::exp2(x)
#define exp10f(x) warpproof_math::exp10f(x)
#define exp10(x) warpproof_math::exp10(x)
#define expm1f(x) warpproof_math::expm1f(x)
#define expm1(x) warpproof_math::expm1(x)
#define logf(x) warpproof_math::logf(x)
#define log(x) warpproof_math::log(x)
#define log2f(x) warpproof_math::log2f(x)
#define log2(x) warpproof_math::log2(x)
#define log10f(x) warpproof_math::log10f(x)
#define log10(x) warpproof_math::log10(x)
#define log1pf(x) warpproof_math::log1pf(x)
#define log1p(x) warpproof_math::log1p(x)
#define tanhf(x) warpproof_math::tanhf(x)
#define tanh(x) warpproof_math::tanh(x)
#define sinhf(x) warpproof_math::sinhf(x)
#define sinh(x) warpproof_math::sinh(x)
#define coshf(x) warpproof_math::coshf(x)
#define cosh(x) warpproof_math::cosh(x)
#define erff(x) warpproof_math::erff(x)
#define erf(x) warpproof_math::erf(x)
#define erfcf(x) warpproof_math::erfcf(x)
#define erfc(x) warpproof_math::erfc(x)
#define sinf(x) warpproof_math::sinf(x)
#define sin(x) warpproof_math::sin(x)
#define cosf(x) warpproof_math::cosf(x)
#define cos(x) warpproof_math::cos(x)
#define tanf(x) warpproof_math::tanf(x)
#define tan(x) warpproof_math::tan(x)
#define cbrtf(x) warpproof_math::cbrtf(x)
#define cbrt(x) warpproof_math::cbrt(x)
#define roundf(x) warpproof_math::roundf(x)
#define round(x) warpproof_math::round(x)
#define asinf(x) warpproof_math::asinf(x)
#define asin(x) warpproof_math::asin(x)
#define acosf(x) warpproof_math::acosf(x)
#define acos(x) warpproof_math::acos(x)
#define atanf(x) warpproof_math::atanf(x)
#define atan(x) warpproof_math::atan(x)
#define asinhf(x) warpproof_math::asinhf(x)
#define asinh(x) warpproof_math::asinh(x)
#define acoshf(x) warpproof_math::acoshf(x)
#define acosh(x) warpproof_math::acosh(x)
#define atanhf(x) warpproof_math::atanhf(x)
#define atanh(x) warpproof_math::atanh(x)
#define erfinvf(x) warpproof_math::erfinvf(x)
#define erfinv(x) warpproof_math::erfinv(x)
#define normcdff(x) warpproof_math::normcdff(x)
#define normcdf(x) warpproof_math::normcdf(x)
#define lgammaf(x) warpproof_math::lgammaf(x)
#define lgamma(x) warpproof_math::lgamma(x)
#define powf(x, y) warpproof_math::powf(x, y)
#define pow(x, y) warpproof_math::pow(x, y)
#define hypotf(x, y) warpproof_math::hypotf(x, y)
#define hypot(x, y) warpproof_math::hypot(x, y)
#define fmodf(x, y) warpproof_math::fmodf(x, y)
#define fmod(x, y) warpproof_math::fmod(x, y)
#define atan2f(x, y) warpproof_math::atan2f(x, y)
#define atan2(x, y) warpproof_math::atan2(x, y)
// These expand to macros above: a qualified name here would be expanded again and be qualified twice.
#define __expf(x) expf(x)
#define __exp10f(x) exp10f(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __powf(x, y) warpproof_math::fast_powf(x, y)
#define sincosf(x, s, c) warpproof_math::sincosf(x, s, c)
#define sincos(x, s, c) warpproof_math::sincos(x, s, c)
#define __sincosf(x, s, c) sincosf(x, s, c)

#endif
