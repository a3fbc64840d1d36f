//! `prove` compares its reading of CUDA C++ with NVRTC's compilation.
//!
//! Each of the texts in [`FALSE_CLAIMS`] makes a claim that is false in C++, but that a reading with one error would
//! prove. Any answer but `proved` is right: a refutation, a refusal, or the difference itself.
//!
//! This needs NVRTC, which `.ci/run` installs. Without it most tests are skipped; with `WARPPROOF_REQUIRE_NVRTC` set
//! they fail instead.

use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};

/// A folder that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpproof-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Exit status, standard output, standard error; with a cache of its own.
fn run_with(folder: &Path, command: &str, variables: &[(&str, &str)]) -> (i32, String, String) {
    let program = Command::new(cargo_bin!("warpproof")).current_dir(folder).env_remove("NO_COLOR");
    let program = program.env("WARPPROOF_CACHE", folder.join("cache"));
    let program = variables.iter().fold(program, |program, (name, value)| program.env(name, value));
    let output = program.args(command.split_whitespace()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn run(folder: &Path, command: &str) -> (i32, String, String) {
    run_with(folder, command, &[])
}

fn has_nvrtc(folder: &Path) -> bool {
    let (_, output, _) = run(folder, "doctor");
    let found = output.contains("ok   NVRTC");
    let required = std::env::var_os("WARPPROOF_REQUIRE_NVRTC").is_some();
    assert!(found || !required, "NVRTC is required and not found:\n{output}");
    found
}

/// Claims that are false by ISO C++17 or by CUDA's manual.
const FALSE_CLAIMS: [(&str, &str); 32] = [
    // A user's function is preferred to one of CUDA's if it is a better match.
    (
        "own_abs",
        "__device__ short abs(short v) { return v; }\n//@ extent out[1];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n\
         //@ ensures out[0] == 5;\n__global__ void k(int* out) { short v = -5; out[0] = abs(v); }\n",
    ),
    (
        "own_min",
        "__device__ short min(short a, short b) { return a; }\n//@ extent out[1];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n\
         //@ ensures out[0] == 2;\n__global__ void k(int* out) { short a = 9, b = 2; out[0] = min(a, b); }\n",
    ),
    (
        "own_atomic",
        "__device__ void atomicMin(float* p, float v) { if (v < *p) *p = v; }\n//@ extent best[1], x[n];\n\
         //@ requires n >= 1 && gridDim.x == 1;\n\
         __global__ void k(float* best, const float* x, int n) { int i = threadIdx.x; if (i < n) atomicMin(&best[0], x[i]); }\n",
    ),
    // Overloads.
    (
        "overload",
        "__device__ int kind(int) { return 10; }\n__device__ int kind(double) { return 20; }\n//@ extent out[1];\n\
         //@ requires gridDim.x == 1 && blockDim.x == 1;\n//@ ensures out[0] == 10;\n\
         __global__ void k(int* out) { out[0] = kind(0.5); }\n",
    ),
    // Types deduced by templates.
    (
        "deduced_int",
        "template <typename T> __device__ T third(T v) { return v / 3; }\n//@ extent out[1];\n\
         //@ requires gridDim.x == 1 && blockDim.x == 1;\n//@ ensures 3 * out[0] == 10;\n\
         __global__ void k(float* out) { int v = 10; out[0] = third(v); }\n",
    ),
    (
        "deduced_thread",
        "template <typename T> __device__ T third(T v) { return v / 3; }\n//@ extent out[1024];\n//@ requires gridDim.x == 1;\n\
         //@ ensures \\forall int i; 0 <= i < blockDim.x ==> 3 * out[i] == i;\n\
         __global__ void k(float* out) { int t = threadIdx.x; out[t] = third(t); }\n",
    ),
    (
        "explicit_char",
        "template <typename T> __device__ T next(T v) { return v + 2; }\n//@ extent out[1];\n\
         //@ requires gridDim.x == 1 && blockDim.x == 1;\n//@ ensures out[0] == 257;\n\
         __global__ void k(float* out) { out[0] = next<unsigned char>(255); }\n",
    ),
    (
        "deduced_char",
        "template <typename T> __device__ T next(T v) { return v + 2; }\n//@ extent out[1];\n\
         //@ requires gridDim.x == 1 && blockDim.x == 1;\n//@ ensures out[0] == 257;\n\
         __global__ void k(float* out) { unsigned char c = 255; out[0] = next(c); }\n",
    ),
    // Scopes around an early return.
    (
        "scope_value",
        "__device__ int pick(int v) {\n  int r = 4;\n  if (v > 2) { int r = 6; if (v == 50) return r; }\n  return r;\n}\n\
         //@ extent out[1];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n//@ ensures out[0] == 6;\n\
         __global__ void k(int* out) { out[0] = pick(3); }\n",
    ),
    (
        "scope_parameter",
        "__device__ int pick(int v) { { int v = 8; if (v == 41) return 1; } return v; }\n//@ extent out[1];\n\
         //@ requires gridDim.x == 1 && blockDim.x == 1;\n//@ ensures out[0] == 8;\n\
         __global__ void k(int* out) { out[0] = pick(2); }\n",
    ),
    (
        "scope_race",
        "__device__ int place(int t, int n) {\n  int at = 0;\n  if (n > 1) { int at = t; if (n == 99) return at; }\n  return at;\n}\n\
         //@ extent out[blockDim.x];\n//@ requires gridDim.x == 1 && n > 1;\n\
         __global__ void k(int* out, int n) { int t = threadIdx.x; out[place(t, n)] = t; }\n",
    ),
    // Pointers to floats of another width.
    (
        "float_as_double",
        "//@ extent x[n], out[n];\n//@ requires gridDim.x == 1 && blockDim.x == n;\n\
         //@ ensures \\forall int i; 0 <= i < n ==> out[i] == x[i];\n\
         __global__ void k(const float* x, float* out, int n) { out[threadIdx.x] = ((const double*)x)[threadIdx.x]; }\n",
    ),
    (
        "float_as_double2",
        "//@ extent x[2*n], out[n];\n//@ requires gridDim.x == 1 && blockDim.x == n;\n\
         //@ ensures \\forall int i; 0 <= i < n ==> out[i] == x[2*i + 1];\n\
         __global__ void k(const float* x, float* out, int n) { double2 v = ((const double2*)x)[threadIdx.x]; out[threadIdx.x] = v.y; }\n",
    ),
    (
        "float2_as_double2",
        "//@ extent x[n], out[n];\n//@ requires gridDim.x == 1 && blockDim.x == n;\n\
         __global__ void k(const float2* x, float* out, int n) { double2 v = ((const double2*)x)[threadIdx.x]; out[threadIdx.x] = v.y; }\n",
    ),
    (
        "float_as_half",
        "#include <cuda_fp16.h>\n//@ extent x[n], out[n];\n//@ requires gridDim.x == 1 && blockDim.x == n;\n\
         //@ ensures \\forall int i; 0 <= i < n ==> out[i] == x[i];\n\
         __global__ void k(const float* x, float* out, int n) { out[threadIdx.x] = __half2float(((const __half*)x)[threadIdx.x]); }\n",
    ),
    (
        "half_as_float",
        "#include <cuda_fp16.h>\n//@ extent x[n], out[n];\n//@ requires gridDim.x == 1 && blockDim.x == n;\n\
         __global__ void k(const __half* x, float* out, int n) { const float* p = (const float*)x; out[threadIdx.x] = p[threadIdx.x]; }\n",
    ),
    // Macros defined by the compiler.
    (
        "macro_arch",
        "//@ extent out[n];\n//@ requires gridDim.x == 1 && blockDim.x <= n;\n__global__ void k(int* out, int n) {\n\
         #if __CUDA_ARCH__ >= 700\n  out[0] = threadIdx.x;\n#else\n  out[threadIdx.x] = 4;\n#endif\n}\n",
    ),
    (
        "macro_arch_defined",
        "//@ extent out[n];\n//@ requires gridDim.x == 1 && blockDim.x <= n;\n__global__ void k(int* out, int n) {\n\
         #ifdef __CUDA_ARCH__\n  out[0] = threadIdx.x;\n#else\n  out[threadIdx.x] = 4;\n#endif\n}\n",
    ),
    (
        "macro_cplusplus",
        "//@ extent out[n];\n//@ requires gridDim.x == 1 && blockDim.x <= n;\n__global__ void k(int* out, int n) {\n\
         #if __cplusplus >= 201402L\n  out[0] = threadIdx.x;\n#else\n  out[threadIdx.x] = 4;\n#endif\n}\n",
    ),
    (
        "macro_cudacc",
        "//@ extent out[n];\n//@ requires gridDim.x == 1 && blockDim.x <= n;\n__global__ void k(int* out, int n) {\n\
         #if __CUDACC__\n  out[0] = threadIdx.x;\n#else\n  out[threadIdx.x] = 4;\n#endif\n}\n",
    ),
    (
        "macro_runtime",
        "#include <cuda_runtime.h>\n//@ extent out[n];\n//@ requires gridDim.x == 1 && blockDim.x <= n;\n\
         __global__ void k(int* out, int n) {\n#if CUDART_VERSION >= 12000\n  out[0] = threadIdx.x;\n#else\n\
         out[threadIdx.x] = 4;\n#endif\n}\n",
    ),
    // Unsigned numbers in preprocessor conditions.
    (
        "unsigned_condition",
        "//@ extent out[n];\n//@ requires gridDim.x == 1 && blockDim.x <= n;\n__global__ void k(int* out, int n) {\n\
         #if 2u - 3 > 0\n  out[0] = threadIdx.x;\n#else\n  out[threadIdx.x] = 4;\n#endif\n}\n",
    ),
    // Constants have their declared type.
    (
        "constant_char",
        "constexpr unsigned char SIZE = 260;\n//@ extent out[2];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n\
         //@ ensures out[0] == 260;\n__global__ void k(int* out) { out[0] = SIZE; }\n",
    ),
    (
        "constant_bool",
        "constexpr bool YES = 3;\n//@ extent out[2];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n\
         //@ ensures out[0] == 3;\n__global__ void k(int* out) { out[0] = YES; }\n",
    ),
    (
        "constant_unsigned",
        "constexpr unsigned LAST = -2;\n//@ extent out[2];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n\
         //@ ensures out[0] == -2;\n__global__ void k(long long* out) { out[0] = LAST; }\n",
    ),
    (
        "constant_race",
        "constexpr unsigned char STEP = 258;\n//@ extent out[n];\n//@ requires gridDim.x == 1 && blockDim.x == 2 && n == 700;\n\
         __global__ void k(int* out, int n) { out[threadIdx.x * (STEP - 2)] = threadIdx.x; }\n",
    ),
    // Names of types that the file redefines.
    (
        "own_half",
        "typedef unsigned short half;\n//@ extent out[1];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n\
         //@ ensures out[0] == 65540;\n__global__ void k(float* out) { half v = 65540; out[0] = v; }\n",
    ),
    (
        "own_half_int",
        "typedef int half;\n//@ extent out[1];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n\
         //@ ensures 4 * out[0] == 9;\n__global__ void k(float* out) { half v = 9; out[0] = v / 4; }\n",
    ),
    // Lines joined by a backslash.
    (
        "spliced_comment",
        "//@ extent out[blockDim.x];\n//@ requires gridDim.x == 1;\n//@ ensures out[0] == 9;\n\
         __global__ void k(int* out) { int t = threadIdx.x; int v = 3;\n  // a path: D:\\tmp\\\n  v = 9;\n  out[t] = v; }\n",
    ),
    // The order in which operands are evaluated.
    (
        "right_side_first",
        "//@ extent out[4];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n//@ ensures out[2] == 3;\n\
         __global__ void k(int* out) { int i = 2; out[i++] = i; }\n",
    ),
    // Memory written by the kernel must not be read through the read-only cache.
    (
        "read_only_cache",
        "//@ extent x[blockDim.x], out[blockDim.x];\n//@ requires gridDim.x == 1;\n\
         //@ ensures \\forall int i; 1 <= i < blockDim.x ==> out[i] == 2 * (i - 1);\n\
         __global__ void k(int* x, int* out) { int t = threadIdx.x; x[t] = 2 * t; __syncthreads(); if (t > 0) out[t] = __ldg(&x[t - 1]); }\n",
    ),
    // Sizes of arrays have types, too.
    (
        "size_char",
        "//@ extent out[n];\n//@ requires gridDim.x == 1 && blockDim.x == 280 && n == 280;\n\
         __global__ void k(int* out, int n) { __shared__ int s[(unsigned char)280]; s[threadIdx.x] = threadIdx.x; __syncthreads();\n\
         out[threadIdx.x] = s[279 - threadIdx.x]; }\n",
    ),
];

#[test]
fn different_readings_of_the_compiler_are_not_proved() {
    let scratch = Scratch::new("reading");
    if !has_nvrtc(&scratch.0) {
        return;
    }
    let mut wrong = Vec::new();
    for (name, text) in FALSE_CLAIMS {
        let file = format!("{name}.cu");
        std::fs::write(scratch.0.join(&file), text).unwrap();
        let (code, output, messages) = run(&scratch.0, &format!("prove {file} --no-solver"));
        if code == 0 {
            wrong.push(format!("{name}: exit {code}\n{output}{messages}"));
        }
        if code == 4 {
            assert!(messages.contains("does not read this kernel as NVRTC"), "{name}: {messages}");
        }
    }
    assert!(wrong.is_empty(), "{} are proved:\n{}", wrong.len(), wrong.join("\n"));
}

const RIGHT: &str = "//@ extent x[n], out[n];\n//@ requires n >= 1 && n <= gridDim.x * blockDim.x && gridDim.x * blockDim.x <= 1000000;\n\
                     //@ ensures \\forall int i; 0 <= i < n ==> out[i] == x[i] + 1;\n\
                     __global__ void add(int* out, const int* x, int n) {\n\
                     int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = x[i] + 1;\n}\n";

#[test]
fn compared_readings_are_reported_and_kept() {
    let scratch = Scratch::new("reading-same");
    std::fs::write(scratch.0.join("add.cu"), RIGHT).unwrap();
    if !has_nvrtc(&scratch.0) {
        return;
    }
    let (code, output, messages) = run(&scratch.0, "prove add.cu --strict");
    assert_eq!(code, 0, "{output}{messages}");
    assert!(output.contains("compared: the kernel is read as NVRTC "), "{output}");
    assert!(!output.contains("not compared"), "{output}");
    assert!(messages.contains("beside the proof"), "{messages}");
    let (code, again, messages) = run(&scratch.0, "prove add.cu --strict");
    assert_eq!((code, &again), (0, &output));
    assert!(messages.contains("(cached)"), "{messages}");
    // A changed text is compared again.
    std::fs::write(scratch.0.join("add.cu"), format!("{RIGHT}\n")).unwrap();
    assert!(!run(&scratch.0, "prove add.cu").2.contains("(cached)"));
    assert!(!run(&scratch.0, "prove add.cu --no-cache").2.contains("(cached)"));
    let (code, output, _) = run(&scratch.0, "prove add.cu --format json");
    let report: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!((code, &report["compared"]["result"]), (0, &"same".into()), "{output}");
    assert!(report["compared"]["runs"].as_u64().unwrap() >= 12, "{output}");
    let (code, output, messages) = run(&scratch.0, "equiv --for-all-sizes add.cu add.cu --strict");
    assert_eq!(code, 0, "{output}{messages}");
    assert!(output.contains("compared: the reference kernel is read as NVRTC"), "{output}");
    assert!(output.contains("compared: the optimised kernel is read as NVRTC"), "{output}");
}

/// Without a compiler, or if the user turns the comparison off, the report says so; with `--strict` nothing is proved
/// then.
#[test]
fn missing_comparisons_are_reported() {
    let scratch = Scratch::new("reading-not");
    std::fs::write(scratch.0.join("add.cu"), RIGHT).unwrap();
    let nothing = [("WARPPROOF_NVRTC", "not/there")];
    let (code, output, _) = run_with(&scratch.0, "prove add.cu", &nothing);
    assert_eq!(code, 0, "{output}");
    assert!(
        output.contains("assumed: not compared with a compiler (NVRTC was not found"),
        "{output}"
    );
    let (code, output, _) = run_with(&scratch.0, "prove add.cu --no-compare", &nothing);
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("assumed: not compared with a compiler (--no-compare)"), "{output}");
    for more in ["", " --no-compare"] {
        let command = format!("prove add.cu --strict{more}");
        let (code, output, _) = run_with(&scratch.0, &command, &nothing);
        assert_eq!(code, 3, "{output}");
        assert!(output.contains("unknown: reading: not compared with a compiler"), "{output}");
    }
    let command = "equiv --for-all-sizes add.cu add.cu --strict --format json";
    let (code, output, _) = run_with(&scratch.0, command, &nothing);
    let report: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!((code, &report["compared"]["result"]), (3, &"not-compared".into()), "{output}");
    assert_eq!(report["reference"]["compared"]["result"], "not-compared");
}

/// A text that NVRTC does not compile is not compared; nothing else changes.
#[test]
fn a_text_that_the_compiler_refuses_is_not_compared() {
    let scratch = Scratch::new("reading-refused");
    if !has_nvrtc(&scratch.0) {
        return;
    }
    let text = RIGHT.replace("int i =", "undeclared_type* unused; int i =");
    std::fs::write(scratch.0.join("host.cu"), format!("{RIGHT}\n#error never\n")).unwrap();
    let (code, _, messages) = run(&scratch.0, "prove host.cu");
    assert_eq!(code, 2, "{messages}");
    std::fs::write(scratch.0.join("add.cu"), text).unwrap();
    let (code, _, messages) = run(&scratch.0, "prove add.cu");
    assert_ne!((code, messages.contains("a bug in warpproof")), (0, true));
}
