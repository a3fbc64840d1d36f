//! Input other than PTX: `.cu` files, objects and fat binaries, entries of Triton's cache.
//!
//! Compiling needs NVRTC, which `.ci/run` installs and points to with `WARPPROOF_NVRTC`. Without it that part is
//! skipped; with `WARPPROOF_REQUIRE_NVRTC` set it fails instead.

use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};

const LAUNCH: &str = "--grid 1 --block 64 --arg x=f32[64] --arg y=f32[64]:out";

fn containers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../driver/tests/containers")
}

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
fn run(folder: &Path, command: &str) -> (i32, String, String) {
    let program = Command::new(cargo_bin!("warpproof")).current_dir(folder).env_remove("NO_COLOR");
    let program = program.env("WARPPROOF_CACHE", folder.join("cache"));
    let output = program.args(command.split_whitespace()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn ptx_is_taken_out_of_objects_and_fat_binaries() {
    let folder = containers();
    for file in ["object.o", "plain.fatbin", "lz4.fatbin", "zstd.fatbin"] {
        let (code, output, messages) = run(&folder, &format!("check {file}::shift {LAUNCH}"));
        assert_eq!(code, 1, "{file}: {output}{messages}");
        assert!(output.contains("error[WP0109]: race on `shift::tile[1]`"), "{file}: {output}");
        assert!(output.contains(&format!("--> {file} (PTX):74")), "{file}: {output}");
        // A suggested command uses the name the user gave.
        let (code, _, messages) = run(&folder, &format!("check {file}::shift"));
        assert_eq!(code, 2);
        assert!(
            messages.contains(&format!("warpproof check {file}::shift --grid ?")),
            "{messages}"
        );
    }
}

#[test]
fn metadata_of_triton_are_used() {
    let scratch = Scratch::new("triton");
    let root = testing::corpus::root();
    std::fs::copy(root.join("corpus/ptx/triton/softmax.sm_80.ptx"), scratch.0.join("softmax.ptx"))
        .unwrap();
    let launch = "--grid 1 --arg x=f32[1024] --arg y=f32[1024]:out --arg stride=1024 --arg n=1024";
    let bare = run(&scratch.0, &format!("check softmax.ptx {launch}"));
    let json = "{\"name\": \"softmax\", \"num_warps\": 4, \"shared\": 1024}";
    std::fs::write(scratch.0.join("softmax.json"), json).unwrap();
    for file in [".", "softmax.json", "softmax.ptx"] {
        let (code, output, messages) = run(&scratch.0, &format!("check {file} {launch}"));
        assert!(
            messages.contains("1024 bytes of dynamic shared memory, as `"),
            "{messages}{output}"
        );
        assert_ne!((code, &output), (bare.0, &bare.1), "{file}");
    }
    // The user's flags take precedence.
    let (_, _, messages) = run(&scratch.0, &format!("check softmax.ptx {launch} --smem 2KiB"));
    assert!(!messages.contains("bytes of dynamic shared memory, as"), "{messages}");
}

fn has_nvrtc(folder: &Path) -> bool {
    let (_, output, _) = run(folder, "doctor");
    let found = output.contains("ok   NVRTC");
    let required = std::env::var_os("WARPPROOF_REQUIRE_NVRTC").is_some();
    assert!(found || !required, "NVRTC is required and not found:\n{output}");
    found
}

#[test]
fn cuda_is_compiled() {
    let scratch = Scratch::new("cuda");
    if !has_nvrtc(&scratch.0) {
        return;
    }
    let folder = &scratch.0;
    std::fs::create_dir_all(folder.join("inc")).unwrap();
    std::fs::write(folder.join("inc/size.h"), "#define SIZE 64\n").unwrap();
    std::fs::write(folder.join("near.h"), "#include <size.h>\n").unwrap();
    let kernel = "#include \"near.h\"\n#include <cuda_fp16.h>\n\
                  extern \"C\" __global__ void shift(const float* x, float* y) {\n\
                  __shared__ float tile[SIZE];\nint i = threadIdx.x;\ntile[i] = x[i];\n\
                  SYNC\ny[i] = tile[(i + 1) % SIZE];\n}\n";
    std::fs::write(folder.join("k.cu"), kernel.replace("SYNC", "")).unwrap();
    let check = format!("check k.cu {LAUNCH} -I inc --verbose");
    let (code, output, messages) = run(folder, &check);
    assert_eq!(code, 1, "{output}{messages}");
    assert!(messages.contains("-lineinfo") && !messages.contains("(cached)"), "{messages}");
    assert!(output.contains("--> k.cu:8:1") && output.contains("6 | tile[i] = x[i];"), "{output}");
    let (_, again, messages) = run(folder, &check);
    assert!(again == output && messages.contains("(cached)"), "{messages}");
    // A change of a header or of the architecture misses the cache.
    std::fs::write(folder.join("inc/size.h"), "#define SIZE (32 * 2)\n").unwrap();
    assert!(!run(folder, &check).2.contains("(cached)"));
    assert!(!run(folder, &format!("{check} --arch sm_90")).2.contains("(cached)"));
    std::fs::write(folder.join("k.cu"), kernel.replace("SYNC", "__syncthreads();")).unwrap();
    let (code, output, _) = run(folder, &check);
    assert_eq!(code, 0, "{output}");
    // Errors are quoted from the compiler.
    std::fs::write(folder.join("k.cu"), "__global__ void k(int* x) { y[0] = 1; }\n").unwrap();
    let (code, _, messages) = run(folder, &check);
    assert_eq!(code, 2);
    assert!(messages.contains("`k.cu` does not compile:\n  | k.cu(1): error:"), "{messages}");
    let (code, _, messages) = run(folder, &format!("{check} --arch ampere"));
    assert_eq!(code, 2);
    assert!(messages.contains("--arch takes sm_80"), "{messages}");
}

/// Host code around a kernel, its headers, and a template that is named only by a launch.
#[test]
fn host_code_is_cut_out() {
    let scratch = Scratch::new("host");
    let folder = &scratch.0;
    if !has_nvrtc(folder) {
        return;
    }
    let kernel = "#include <cstdio>\n#include <vector>\n#include <float.h>\n#include <torch/extension.h>\n\
                  using namespace std;\nstruct Options { std::vector<int> sizes; };\n\
                  template <int N> __global__ void least(const float* x, float* y) {\n\
                  float m = FLT_MAX;\nfor (int i = 0; i < N; ++i) m = fminf(m, x[threadIdx.x * N + i]);\n\
                  y[threadIdx.x] = m;\n}\n\
                  void launch(const std::vector<float>& v, float* d) { least<16><<<1, 4>>>(d, d); }\n\
                  int main() { std::vector<float> v(64); launch(v, nullptr); printf(\"ok\"); }\n";
    std::fs::write(folder.join("k.cu"), kernel).unwrap();
    let flags = "--grid 1 --block 4 --arg x=f32[64] --arg y=f32[4]:out";
    let (code, output, messages) = run(folder, &format!("check k.cu::least<16> {flags}"));
    assert_eq!(code, 0, "{output}{messages}");
    // Lines stay, and so do errors.
    std::fs::write(folder.join("k.cu"), kernel.replace("* N + i", "* N + i + 1")).unwrap();
    let (code, output, messages) = run(folder, &format!("check k.cu::least {flags}"));
    assert_eq!(code, 1, "{output}{messages}");
    assert!(output.contains("--> k.cu:9:"), "{output}");
    let other = "#include <no/such.h>\n__global__ void k() {}\n";
    std::fs::write(folder.join("k.cu"), other).unwrap();
    let (code, _, messages) = run(folder, "check k.cu --grid 1 --block 1");
    assert_eq!(code, 2);
    assert!(messages.contains("no/such.h"), "{messages}");
}

/// Parameters of a `.cu` file have the names of their source.
#[test]
fn arguments_of_a_source_are_taken_by_name() {
    let scratch = Scratch::new("named");
    let folder = &scratch.0;
    if !has_nvrtc(folder) {
        return;
    }
    let kernel = "__global__ void sub(const float* x, const float* y, float* out, int n) {\n\
                  int i = threadIdx.x;\nif (i < n) out[i] = x[i] - y[i];\n}\n";
    std::fs::write(folder.join("a.cu"), kernel).unwrap();
    let other = "__global__ void sub(const float* y, const float* x, float* out, int n) {\n\
                 int i = threadIdx.x;\nif (i < n) out[i] = x[i] - y[i];\n}\n";
    std::fs::write(folder.join("b.cu"), other).unwrap();
    let launch =
        "--grid 1 --block 32 --arg x=f32[32] --arg y=f32[32] --arg out=f32[32]:out --arg n=32";
    let (code, output, messages) = run(folder, &format!("equiv a.cu b.cu {launch}"));
    assert_eq!(code, 0, "{output}{messages}");
    // With other names the order counts, and then they differ.
    let others = launch.replace("x=", "p=").replace("y=", "q=");
    let (code, output, messages) = run(folder, &format!("equiv a.cu b.cu {others}"));
    assert_eq!(code, 1, "{output}{messages}");
    let (code, _, messages) = run(folder, "equiv a.cu b.cu");
    assert_eq!(code, 2);
    assert!(messages.contains("warpproof equiv a.cu b.cu --grid ? --block ? --arg"), "{messages}");
    assert!(messages.contains("--arg 'out=f32[?]:out' --arg 'n=?'"), "{messages}");
}

/// Calls of the math library stay calls, unless the source does not compile that way or is to be run.
#[test]
fn math_functions_stay_calls() {
    let scratch = Scratch::new("math");
    let folder = &scratch.0;
    if !has_nvrtc(folder) {
        return;
    }
    let kernel = "extern \"C\" __global__ void k(const float* x, float* y) {\n  float v = x[threadIdx.x];\n  \
                  y[threadIdx.x] = v > 1.0f ? log1pf(v) : v;\n}\n";
    std::fs::write(folder.join("a.cu"), kernel).unwrap();
    // A name of the header is a member here, so it compiles only without the header.
    let member = "struct S { float v; __device__ float log1pf(float x) const { return v * ::log1pf(x); } };\n\
                  extern \"C\" __global__ void k(const float* x, float* y) {\n  S s{1.0f};\n  \
                  y[threadIdx.x] = s.log1pf(x[threadIdx.x]);\n}\n";
    std::fs::write(folder.join("b.cu"), member).unwrap();
    let launch = "--grid 1 --block 8 --arg x=f32[8] --arg y=f32[8]:out --verbose";
    let (code, output, messages) = run(folder, &format!("equiv a.cu a.cu {launch}"));
    assert_eq!(code, 0, "{output}{messages}");
    assert!(messages.contains("--pre-include=warpproof_math.h"), "{messages}");
    assert!(output.contains("`log1pf`") && !output.contains("vt_"), "{output}");
    let (_, _, messages) = run(folder, &format!("equiv a.cu a.cu {launch} --inline-math"));
    assert!(!messages.contains("warpproof_math.h"), "{messages}");
    let (code, output, messages) = run(folder, &format!("check b.cu {launch}"));
    assert_eq!(code, 0, "{output}{messages}");
    assert!(!messages.contains("warpproof_math.h"), "{messages}");
    let numbers = launch.replace("x=f32[8]", "x=f32[8]=iota");
    let (code, output, messages) = run(folder, &format!("simulate a.cu {numbers}"));
    assert_eq!(code, 0, "{output}{messages}");
    // Errors of the compiler are about the unchanged file.
    std::fs::write(folder.join("a.cu"), kernel.replace("v > 1.0f", "w > 1.0f")).unwrap();
    let (code, _, messages) = run(folder, &format!("check a.cu {launch}"));
    assert_eq!(code, 2);
    assert!(messages.contains("a.cu(3): error:"), "{messages}");
    assert!(!messages.contains("warpproof_math.h"), "{messages}");
}

/// Every function of the header compiles with it: a macro that expands to another one of them would be qualified twice.
#[test]
fn every_function_of_the_header_stays_a_call() {
    let scratch = Scratch::new("all-math");
    let folder = &scratch.0;
    if !has_nvrtc(folder) {
        return;
    }
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/warpproof_math.h");
    let header = std::fs::read_to_string(header).unwrap();
    let mut called = 0;
    let mut body = String::new();
    for definition in header.lines().filter_map(|line| line.strip_prefix("#define ")) {
        let Some((name, rest)) = definition.split_once('(') else { continue };
        if name.starts_with("WARPPROOF") {
            continue;
        }
        let call = match rest.split(')').next().unwrap() {
            "x" => format!("v += {name}(v);"),
            "x, y" => format!("v += {name}(v, 2.5f);"),
            "x, s, c" if name == "sincos" => format!("{name}(double(v), &d, &e); v += d + e;"),
            "x, s, c" => format!("{name}(v, &s, &c); v += s + c;"),
            other => panic!("{name}({other})"),
        };
        body += &format!("  {call}\n");
        called += 1;
    }
    assert!(called > 60, "{called}");
    let kernel = format!(
        "extern \"C\" __global__ void k(const float* x, float* y) {{\n  float v = x[threadIdx.x], s, c;\n  double d, e;\n{body}  y[threadIdx.x] = v;\n}}\n"
    );
    std::fs::write(folder.join("a.cu"), kernel).unwrap();
    let launch = "--grid 1 --block 8 --arg x=f32[8] --arg y=f32[8]:out --verbose";
    let (_, output, messages) = run(folder, &format!("check a.cu {launch}"));
    assert!(messages.contains("--pre-include=warpproof_math.h"), "{output}{messages}");
    assert!(!messages.contains("does not compile"), "{messages}");
}

#[test]
fn without_a_compiler_the_message_says_how_to_get_one() {
    let folder = containers();
    let program = Command::new(cargo_bin!("warpproof")).current_dir(&folder);
    // Variables with a path take precedence, and these paths do not exist.
    let program = program.env("WARPPROOF_NVRTC", "not/there").env("WARPPROOF_NVCC", "not/there");
    let output = program.args(["check", "kernels.cu", "--grid", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(messages.contains("pip install nvidia-cuda-nvrtc"), "{messages}");
}

const TEMPLATE: &str = "#include <torch/extension.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n\
    template <typename T, int N = 4> __global__ void copy(const T* x, T* y, int n) {\n\
    int i = threadIdx.x; if (i < n) y[i] = x[i] + T(N - 4); }\n\
    template <typename T> void launch(const T* x, T* y, int n) { copy<T><<<1, 64>>>(x, y, n); }\n";

/// An instance requested by the user is compiled for its name; without a name the message explains how to request
/// one.
#[test]
fn instances_of_templates_are_asked_for() {
    let scratch = Scratch::new("instances");
    let folder = &scratch.0;
    if !has_nvrtc(folder) {
        return;
    }
    std::fs::write(folder.join("t.cu"), TEMPLATE).unwrap();
    let launch = "--grid 1 --block 64 --arg x=f32[64] --arg y=f32[64]:out --arg n=64";
    // Twice: the second time it comes from the cache.
    for name in ["copy<float>", "copy<float>", "copy<float,4>", "copy<float,-2+6>"] {
        let (code, output, messages) = run(folder, &format!("check t.cu::{name} {launch}"));
        let expected = if name.contains('+') { 2 } else { 0 };
        assert_eq!(code, expected, "{name}: {output}{messages}");
    }
    for name in ["t.cu", "t.cu::copy"] {
        let (code, output, messages) = run(folder, &format!("check {name} {launch}"));
        assert_eq!(code, 2, "{output}{messages}");
        assert!(messages.contains("`copy` is a template"), "{messages}");
        assert!(messages.contains("'t.cu::copy<float>'"), "{messages}");
    }
    let (code, _, messages) = run(folder, &format!("check t.cu::copy<float,4,4> {launch}"));
    assert_eq!(code, 2);
    assert!(messages.contains("has no instance `copy<float,4,4>`"), "{messages}");
    assert!(messages.lines().count() < 12, "{messages}");
    // An alias is another spelling of the type.
    let text = TEMPLATE
        .replace("template <typename T, int", "using real = float;\ntemplate <typename T, int");
    std::fs::write(folder.join("alias.cu"), text).unwrap();
    let (code, output, messages) = run(folder, &format!("check alias.cu::copy<real> {launch}"));
    assert_eq!(code, 0, "{output}{messages}");
}

/// PyTorch's dispatch macros choose types at run time, `float` among them. The first arguments of an instance are
/// enough to name it, if they are unique.
#[test]
fn dispatched_instances_are_found() {
    let scratch = Scratch::new("dispatched");
    let folder = &scratch.0;
    if !has_nvrtc(folder) {
        return;
    }
    let host = "void go(torch::Tensor x, torch::Tensor y) {\n\
                AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"copy\", ([&] {\n\
                copy<scalar_t, 8><<<1, 64>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), 64); })); }\n";
    let template = TEMPLATE.split_once("template <typename T> void launch").unwrap().0;
    std::fs::write(folder.join("t.cu"), format!("{template}{host}")).unwrap();
    let launch = "--grid 1 --block 64 --arg x=f32[64] --arg y=f32[64]:out --arg n=64";
    for name in ["t.cu", "t.cu::copy", "t.cu::copy<float,8>"] {
        let (code, output, messages) = run(folder, &format!("check {name} {launch}"));
        assert_eq!(code, 0, "{output}{messages}");
        let is_told = messages.contains("other types of AT_DISPATCH are ignored");
        assert_eq!(is_told, !name.contains('<'), "{name}: {messages}");
    }
    // The template's default arguments give another instance than the launched one.
    let (code, output, messages) =
        run(folder, &format!("equiv t.cu::copy<float> t.cu::copy<float,8> {launch}"));
    assert_eq!(code, 1, "{output}{messages}");
    let fixed = "template <int N, typename T> __global__ void fill(T* y) { y[threadIdx.x] = N; }\n\
                 void go(float* y) { fill<3, float><<<1, 64>>>(y); }\n";
    std::fs::write(folder.join("f.cu"), fixed).unwrap();
    let (code, output, messages) =
        run(folder, "check f.cu::fill<3> --grid 1 --block 64 --arg y=f32[64]:out");
    assert_eq!(code, 0, "{output}{messages}");
}

/// Host functions in the user's own headers are cut out like those of the file.
#[test]
fn host_code_of_own_headers_is_cut_out() {
    let scratch = Scratch::new("own-headers");
    let folder = &scratch.0;
    if !has_nvrtc(folder) {
        return;
    }
    let header = "#pragma once\n#include <string>\n#include <cuda_runtime.h>\n\
                  inline void check(cudaError_t e) { if (e != cudaSuccess) exit(EXIT_FAILURE); }\n\
                  template <typename F> float bench(F f) { f(); return 0; }\n\
                  __device__ inline float twice(float x) { return x + x; }\n";
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    std::fs::write(folder.join("inner/common.h"), header).unwrap();
    std::fs::write(folder.join("all.h"), "#include \"inner/common.h\"\n").unwrap();
    let text = "#include \"all.h\"\n__global__ void k(const float* x, float* y) { y[threadIdx.x] = twice(x[threadIdx.x]); }\n\
                int main() { k<<<1, 64>>>(nullptr, nullptr); check(cudaGetLastError()); }\n";
    std::fs::write(folder.join("k.cu"), text).unwrap();
    let (code, output, messages) = run(folder, &format!("check k.cu {LAUNCH}"));
    assert_eq!(code, 0, "{output}{messages}");
    // The cache depends on the text of the header.
    std::fs::write(folder.join("inner/common.h"), header.replace("x + x", "x + y")).unwrap();
    let (code, _, _) = run(folder, &format!("check k.cu {LAUNCH}"));
    assert_eq!(code, 2);
}

/// If calls of math functions do not compile in one kernel of a file, they are inlined in all of them; a note says so.
#[test]
fn lost_calls_are_told() {
    let scratch = Scratch::new("lost-calls");
    let folder = &scratch.0;
    if !has_nvrtc(folder) {
        return;
    }
    let kernel =
        "__global__ void k(const float* x, float* y) { y[threadIdx.x] = expf(x[threadIdx.x]); }\n";
    let other = "__global__ void pointer(float* y) { float (*f)(float, float) = &powf; y[0] = f(2.0f, 3.0f); }\n\
                 struct S { float expf; };\n__device__ float g(S s) { return (s.expf); }\nnamespace n { __device__ float expf(int a, int b) { return a; } }\n";
    std::fs::write(folder.join("one.cu"), kernel).unwrap();
    std::fs::write(folder.join("two.cu"), format!("{kernel}{other}")).unwrap();
    let (code, output, messages) = run(folder, &format!("check one.cu::k {LAUNCH}"));
    assert_eq!(code, 0, "{output}{messages}");
    assert!(!messages.contains("kept as calls"), "{messages}");
    let (_, output, messages) = run(folder, &format!("check two.cu::k {LAUNCH}"));
    assert!(
        messages.contains("does not compile with math functions kept as calls"),
        "{output}{messages}"
    );
}
