//! Tests of GPUVerify words, pointers to functions, and declarations of the prelude.

use super::tests::{has, refusal, tree};
use base::Severity;

fn in_loop(invariant: &str) -> String {
    format!(
        "__global__ void k(int* a, int n) {{ for (int i = 0; {invariant}, i < n; i++) a[i] = i; }}"
    )
}

#[test]
fn accesses_are_words_of_invariants() {
    let write = "(==> (__write (read a))";
    has(&in_loop("__invariant(__write_implies(a, __write_offset_bytes(a) % 4 == 0))"), write);
    has(&in_loop("__global_invariant(__no_read(a))"), "loop invariant (! (__read (read a)))");
    has(&in_loop("__invariant(__implies(__enabled() & i > 0, n > 0))"), "(==> (&& true ");
}

#[test]
fn candidate_invariants_are_not_claims() {
    let text = in_loop("__candidate_invariant(i > 7), __non_temporal_loads_begin()");
    assert!(!tree(&text).contains("invariant"), "{}", tree(&text));
}

#[test]
fn invariants_away_from_a_loop_are_assertions() {
    let text = "__global__ void k(int n) { __invariant(n > 0); while (n) { __invariant(n > 1); } }";
    assert_eq!(tree(text).matches("assert").count(), 2, "{}", tree(text));
    let text = "__global__ void k(int n) { do { __invariant(n > 0); n--; } while (n > 0); }";
    has(text, "loop invariant (>:whole (to whole (read n)) 0)");
}

#[test]
fn claims_about_another_thread_belong_to_barriers() {
    let barrier = |word: &str| {
        format!("__global__ void k(int i) {{ __barrier_invariant_1({word}, i); __syncthreads(); }}")
    };
    has(&barrier("__uniform_int(i)"), "(==:whole (to whole (read i)) (other ");
    has(&barrier("__distinct_int(i)"), "(!=:whole (to whole (read i)) (other ");
    has(&barrier("__implies(__same_group, __exclusive(i > 0))"), "(! (&& ");
    has(&in_loop("__invariant(__uniform_int(i))"), "unfollowed");
    has(&in_loop("__invariant(__all(i >= 0))"), "loop invariant (>=:whole");
    let (severity, message) =
        refusal("__global__ void k(int* a, int i) { __requires(a[i] != __other_int(i)); }");
    assert_eq!(severity, Severity::Unsupported);
    assert!(message.contains("not supported here") && message.contains("__other_int"), "{message}");
}

#[test]
fn axioms_are_assumed_where_kernels_begin() {
    has("__axiom(blockDim.x == 32);\n__global__ void k(int* a) { a[0] = 1; }", "assume (==:whole ");
    let source = "__device__ void __axiom(int x); __global__ void k(int* a) { a[0] = 1; }";
    assert!(!tree(source).contains("assume"));
}

#[test]
fn zero_is_a_power_of_two_there() {
    has("__global__ void k(int n) { __requires(__is_pow2(n)); }", "(|| (==:whole ");
    let text = "__global__ void k(int n) { __requires(__is_pow2(blockDim.x)); }";
    assert!(!tree(text).contains("(||"), "{}", tree(text));
}

#[test]
fn functions_are_values() {
    let functions = "typedef int (*op_t)(int);
        __device__ int twice(int x) { return 2*x; }
        template <op_t F> __device__ int at(int x) { return F(x); }
        __device__ int run(op_t f, int x) { return (*f)(x); }\n";
    let with = |body: &str| format!("{functions}__global__ void k(int* a) {{ {body} }}");
    has(&with("a[0] = at<twice>(3);"), "(call twice (read x))");
    has(&with("a[0] = run(&twice, 3);"), "(call run (function twice) 3)");
    has(&with("op_t f = twice; a[0] = f(1) + (*f)(2);"), "(call (read f) 1)");
    let refused = [
        "__device__ int f(int x); __device__ int f(float x); __global__ void k(int* a) { auto g = f; }",
        "__device__ int f(int& x) { return x; } __global__ void k(int* a) { auto g = f; }",
        "template <class T> __device__ T f(T x) { return x; } __global__ void k(int* a) { int (*g)(int) = f; }",
    ];
    for text in refused {
        assert_eq!(refusal(text).0, Severity::Unsupported, "{text}");
    }
    let wrong = with("op_t f = twice; a[0] = f(1, 2);");
    assert_eq!(refusal(&wrong).0, Severity::Error);
}

#[test]
fn textures_and_generators_are_known_without_headers() {
    let text = "texture<uchar4, 2, cudaReadModeNormalizedFloat> t; texture<float> u;
        __global__ void k(float* a, cudaTextureObject_t o, curandState* s) {
          float4 v = tex2D(t, 1.0f, 2.0f);
          a[0] = v.x + tex1Dfetch(u, 3) + tex1Dfetch<float>(o, 4);
          curand_init(1, 2, 3, s); a[sizeof(curandState)] = curand_uniform(s);
        }";
    has(text, "(__texel_at:void");
    has(text, "(__texel_of_index:void");
    has(text, "(__unknown_value:void");
    has(text, "48:unsigned long");
    // A file may use the names for its own declarations.
    let source = "struct texture { int x; }; __device__ int curand(int x) { return x; }
        __global__ void k(int* a) { texture t; t.x = curand(3); a[0] = t.x; }";
    has(source, "(call curand 3)");
}

#[test]
fn a_contract_before_a_macro_is_its_kernels() {
    let text = "#define OP(name) __device__ int name##_f(int x) { return x; } \\
          __global__ void name(int* a, int n) { a[0] = name##_f(n); }
        //@ requires n > 0;
        OP(first)";
    has(text, "requires (>:whole (to whole (read n)) 0)");
}

#[test]
fn memory_spaces_may_be_said_twice_and_point_to_constants() {
    has("__global__ void k() { __device__ __shared__ float s[4]; s[0] = 1; }", "shared");
    let text = "__constant__ int t[4]; __global__ void k(int* a) { int* p = &t[1]; a[0] = *p; }";
    has(text, "(p+ (decay @t) 1)");
    let text = "__global__ void k() { __device__ float s[4]; }";
    assert_eq!(refusal(text).0, Severity::Error);
}
