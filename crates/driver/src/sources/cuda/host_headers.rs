//! Substitutes for host headers that NVRTC lacks: our own, with the constants that kernels use of them.
//!
//! A kernel that compiles with them means the same as with the real headers. Constants and integer types are those of
//! Linux on x86-64, and templates of the standard library are CUDA's. The compiler reports everything else as
//! missing.

const FLOAT: &str = "#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n\
                     #define FLT_EPSILON 1.192092896e-07f\n#define DBL_MAX 1.7976931348623158e+308\n\
                     #define DBL_MIN 2.2250738585072014e-308\n\
                     #define DBL_EPSILON 2.2204460492503131e-016\n";
const LIMITS: &str = "#define CHAR_BIT 8\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n\
                      #define SHRT_MAX 32767\n#define SHRT_MIN (-SHRT_MAX - 1)\n#define USHRT_MAX 65535\n\
                      #define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX - 1)\n\
                      #define UINT_MAX 4294967295u\n#define LONG_MAX 9223372036854775807l\n\
                      #define LONG_MIN (-LONG_MAX - 1)\n#define LLONG_MAX 9223372036854775807ll\n\
                      #define LLONG_MIN (-LLONG_MAX - 1)\n#define ULLONG_MAX 18446744073709551615ull\n";
const INTEGERS: &str = "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\n\
                        typedef short int16_t;\ntypedef unsigned short uint16_t;\ntypedef int int32_t;\n\
                        typedef unsigned int uint32_t;\ntypedef long int64_t;\n\
                        typedef unsigned long uint64_t;\n";
const MATH: &str = "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n\
                    #ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n\
                    #ifndef M_PI\n#define M_PI 3.14159265358979323846\n#endif\n";

/// The header with everything that nvcc defines by default.
pub(super) const COMMON: &str = "warpproof_host_constants.h";

/// Headers of the standard library for device code: CUDA's own, under the name in the file.
const CUDA_LIMITS: &str =
    "#include <cuda/std/limits>\nnamespace std { using cuda::std::numeric_limits; }\n";
const CUDA_TRAITS: &str =
    "#include <cuda/std/type_traits>\nnamespace std { using namespace cuda::std; }\n";
const CUDA_UTILITY: &str =
    "#include <cuda/std/utility>\nnamespace std { using namespace cuda::std; }\n";
const CUDA_ARRAY: &str =
    "#include <cuda/std/array>\nnamespace std { using namespace cuda::std; }\n";

/// Host headers and their substitutes.
const HEADERS: &[(&str, &str)] = &[
    ("float.h", FLOAT),
    ("cfloat", FLOAT),
    ("limits.h", LIMITS),
    ("climits", LIMITS),
    ("stdint.h", INTEGERS),
    ("cstdint", INTEGERS),
    ("inttypes.h", INTEGERS),
    ("cinttypes", INTEGERS),
    ("math.h", MATH),
    ("cmath", MATH),
    ("limits", CUDA_LIMITS),
    ("type_traits", CUDA_TRAITS),
    ("utility", CUDA_UTILITY),
    ("array", CUDA_ARRAY),
];

/// Host headers from which a kernel uses only names built into NVRTC.
const EMPTY: &[&str] = &[
    "stdio.h",
    "cstdio",
    "stdlib.h",
    "cstdlib",
    "string.h",
    "cstring",
    "stddef.h",
    "cstddef",
    "assert.h",
    "cassert",
    "time.h",
    "ctime",
    "sys/time.h",
    "unistd.h",
    "getopt.h",
    "stdarg.h",
    "cstdarg",
    "iostream",
    "fstream",
    "sstream",
    "iomanip",
    "vector",
    "string",
    "memory",
    "random",
    "chrono",
    "algorithm",
    "numeric",
    "map",
    "set",
    "unordered_map",
    "unordered_set",
    "queue",
    "deque",
    "list",
    "functional",
    "stdexcept",
    "exception",
    "thread",
    "mutex",
    "future",
    "atomic",
    "optional",
    "omp.h",
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_profiler_api.h",
    "device_launch_parameters.h",
    "helper_cuda.h",
    "helper_functions.h",
    "cublas_v2.h",
    "nvToolsExt.h",
    "nvtx3/nvToolsExt.h",
    "torch/extension.h",
    "torch/torch.h",
    "torch/all.h",
    "torch/types.h",
    "torch/library.h",
    "ATen/ATen.h",
    "ATen/cuda/CUDAContext.h",
    "ATen/cuda/Exceptions.h",
    "c10/cuda/CUDAGuard.h",
    "c10/cuda/CUDAStream.h",
    "c10/cuda/CUDAException.h",
    "c10/cuda/CUDAFunctions.h",
    "pybind11/pybind11.h",
    "pybind11/numpy.h",
    "gtest/gtest.h",
];

/// Substitute for the driver's header, which NVRTC compiles only with headers of the host. It defines the one type of
/// that header that kernels take as a parameter.
pub(super) const DRIVER: (&str, &str) = (
    "cuda.h",
    "typedef struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; } CUtensorMap;\n",
);

/// Returns `true` if the first error is in the driver's header.
pub(super) fn names_driver(log: &str) -> bool {
    let first = log.lines().find(|line| line.contains("): error"));
    let file = first.and_then(|line| line.split_once('(')).map(|(file, _)| file);
    file.is_some_and(|file| file.ends_with("/cuda.h") || file.ends_with("\\cuda.h"))
}

/// The constants and types of all substitutes.
pub(super) fn common() -> String {
    [FLOAT, LIMITS, INTEGERS, MATH].concat()
}

/// Returns `true` if the compiler misses a constant or type of host headers.
pub(super) fn names_constant(log: &str) -> bool {
    let name = log.split_once("identifier \"").and_then(|(_, rest)| rest.split_once('"'));
    let known = common();
    let mut words = known.split(|c: char| !c.is_alphanumeric() && c != '_');
    name.is_some_and(|(name, _)| words.any(|word| word == name))
}

/// Returns our substitute for a header that the compiler does not find.
pub(super) fn missing(log: &str) -> Option<(&'static str, &'static str)> {
    let name = missing_name(log)?;
    let empty = EMPTY.iter().find(|own| **own == name).map(|own| (*own, ""));
    HEADERS.iter().copied().find(|(own, _)| *own == name).or(empty)
}

/// The name of a header that the compiler does not find.
pub(super) fn missing_name(log: &str) -> Option<&str> {
    let (_, rest) = log.split_once("cannot open source file \"")?;
    Some(rest.split_once('"')?.0)
}
