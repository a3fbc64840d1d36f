//! Names of GPUVerify, copies of bytes, pointers to functions, textures, random numbers and groups of threads are
//! read, lowered and proved.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use base::{Diagnostic, Severity};

fn kernels(text: &str) -> Result<Vec<cuda_front::Parsed>, Box<Diagnostic>> {
    let (program, _) = cuda::read(&cuda::preprocess::Options::default(), text)?;
    Ok(cuda_front::lower(&program))
}

/// The severity and message of a refusal.
fn refusal(text: &str) -> Option<(Severity, String)> {
    let refused = match kernels(text) {
        Err(refused) => refused,
        Ok(kernels) => kernels.into_iter().find_map(|(_, kernel)| kernel.err())?,
    };
    Some((refused.severity, refused.message.to_string()))
}

/// The answers for the unproved properties of a text's last kernel; `proved` if there are none.
fn answer(text: &str) -> String {
    let (_, kernel) = kernels(text).expect("a file").pop().expect("a kernel");
    let kernel = kernel.unwrap_or_else(|refused| panic!("{}: {text}", refused.message));
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel, support::solver(), options);
    assert!(answer.contradiction.is_none(), "{text}: {:?}", answer.contradiction);
    let open = answer.properties.iter().filter(|one| one.verdict != Verdict::Proved);
    let named = |property: Property, verdict: Verdict| format!("{property:?} {verdict:?}");
    let open: Vec<String> = open.map(|one| named(one.property, one.verdict)).collect();
    if open.is_empty() { "proved".to_owned() } else { open.join(", ") }
}

/// A kernel in which each thread has an element `i` of `x[n]`.
fn with_element(before: &str, body: &str) -> String {
    format!(
        "{before}
        //@ extent x[n];
        //@ requires 0 <= n <= 1000000 && gridDim.x*blockDim.x <= 1000000;
        __global__ void k(float* x, int n) {{
          int i = blockIdx.x*blockDim.x + threadIdx.x;
          if (i < n) {{ {body} }}
        }}"
    )
}

#[test]
fn logs_of_accesses_are_invariants() {
    let strided = |invariant: &str| {
        with_element(
            "",
            &format!(
                "for (int j = i; __invariant({invariant}), j < n; j += gridDim.x*blockDim.x) x[j] = 1;"
            ),
        )
    };
    if support::solver().is_some() {
        assert_eq!(answer(&strided("__write_implies(x, __write_offset_bytes(x) < 4*j)")), "proved");
        let other = answer(&strided("__write_implies(x, __write_offset_bytes(x) < 3*j)"));
        assert!(other.contains("Invariant"), "{other}");
    }
    assert_eq!(answer(&strided("__no_read(x)")), "proved");
    assert!(answer(&strided("__no_write(x)")).contains("Invariant"));
}

#[test]
fn barriers_end_logs_of_shared_arrays_alone() {
    let with = |array: &str| {
        format!(
            "//@ extent a[64*gridDim.x];
            //@ requires 0 <= n <= 1000 && blockDim.x == 64 && gridDim.x <= 1000;
            __global__ void k(float* a, int n) {{
              __shared__ float s[64];
              for (int j = 0; __invariant(__no_write({array})), j < n; j++) {{
                s[threadIdx.x] = j;
                a[64*blockIdx.x + threadIdx.x] = j;
                __syncthreads();
              }}
            }}"
        )
    };
    assert_eq!(answer(&with("s")), "proved");
    assert!(answer(&with("a")).contains("Invariant"));
}

#[test]
fn words_that_say_nothing_of_values_are_read() {
    let text = "__axiom(blockDim.x == 32);
        //@ extent a[32];
        __global__ void k(float* a) {
          __requires(gridDim.x == 1);
          __requires_fresh_array(a);
          __assert(__all(threadIdx.x < 32));
          a[threadIdx.x] = 3;
        }";
    assert_eq!(answer(text), "proved");
}

#[test]
fn bytes_are_copied_as_elements() {
    let body = "float v[4]; memset(v, 0, sizeof(v)); memcpy(&v[1], x + i, sizeof(float)); x[i] = v[1] + v[2];";
    assert_eq!(answer(&with_element("", body)), "proved");
    let body = "float v[8]; memset(v, 0, 8*sizeof(double)); x[i] = v[1];";
    assert_eq!(answer(&with_element("", body)), "Bounds Refuted");
    let body = "if (i == 0) memset(x, 0, n*sizeof(float));";
    assert_eq!(answer(&with_element("", body)), "proved");
    let body = "if (i == 0) memset(x, 0, (n + 1)*sizeof(float));";
    assert!(answer(&with_element("", body)).contains("Bounds Refuted"));
    for body in ["memcpy(x, x + 1, n);", "memset(x, 0, 3);", "memmove(x, x + 1, n*4ul);"] {
        let (severity, message) = refusal(&with_element("", body)).expect(body);
        assert_eq!(severity, Severity::Unsupported, "{message}");
        assert!(message.contains("not supported here"), "{message}");
    }
}

#[test]
fn functions_behind_pointers_are_called() {
    let functions = "typedef int (*at_t)(int, int);
        __device__ int own(int i, int n) { return i; }
        __device__ int next(int i, int n) { return i + 1; }
        __device__ int mirrored(int i, int n) { return n - 1 - i; }
        template <at_t F> __device__ int at(int i, int n) { return F(i, n); }
        __device__ int run(at_t f, int i, int n) { return f(i, n); }\n";
    assert_eq!(answer(&with_element(functions, "x[at<mirrored>(i, n)] = 1;")), "proved");
    assert_eq!(answer(&with_element(functions, "x[run(own, i, n)] = 1;")), "proved");
    if support::solver().is_some() {
        let chosen = "at_t f; if (n > 5) f = own; else f = &mirrored; x[f(i, n)] = 1;";
        assert_eq!(answer(&with_element(functions, chosen)), "proved");
    }
    let wrong = "at_t f = own; if (n > 5) f = next; x[(*f)(i, n)] = 1;";
    assert!(answer(&with_element(functions, wrong)).contains("Bounds Refuted"));
}

#[test]
fn fetches_are_of_no_array() {
    let before = "texture<float, 1, cudaReadModeElementType> t;";
    assert_eq!(answer(&with_element(before, "x[i] = tex1Dfetch(t, i - 7);")), "proved");
    let index = "int j = (int)tex1Dfetch(t, i); x[j] = 1;";
    assert_ne!(answer(&with_element(before, index)), "proved");
}

#[test]
fn generators_have_a_state_in_memory() {
    let with = |at: &str| {
        format!(
            "//@ extent s[gridDim.x*blockDim.x], x[gridDim.x*blockDim.x];
            //@ requires gridDim.x*blockDim.x <= 1000000;
            __global__ void k(curandState* s, float* x) {{
              int i = blockIdx.x*blockDim.x + threadIdx.x;
              x[i] = curand_uniform(&s[{at}]);
            }}"
        )
    };
    assert_eq!(answer(&with("i")), "proved");
    let shared = answer(&with("blockIdx.x"));
    assert!(shared.contains("Races Refuted"), "{shared}");
}

#[test]
fn groups_of_threads() {
    let with = |body: &str| {
        format!(
            "#include <cooperative_groups.h>
            namespace cg = cooperative_groups;
            //@ extent a[64];
            //@ requires blockDim.x == 64 && gridDim.x == 1;
            __global__ void k(float* a) {{ cg::thread_block b = cg::this_thread_block(); {body} }}"
        )
    };
    assert_eq!(answer(&with("a[b.thread_rank()] = 1; b.sync();")), "proved");
    let tile = "auto t = cg::tiled_partition<32>(b); a[32*t.meta_group_rank() + t.thread_rank()] = t.shfl_down(1.0f, 2);";
    assert_eq!(answer(&with(tile)), "proved");
    for (body, what) in [
        ("auto t = cg::tiled_partition<16>(b); t.sync();", "mask"),
        ("cg::this_grid().sync();", "barrier of the whole grid"),
        ("cg::coalesced_threads().sync();", "mask"),
    ] {
        let (severity, message) = refusal(&with(body)).expect(body);
        assert_eq!(severity, Severity::Unsupported, "{message}");
        assert!(message.contains(what), "{message}");
    }
}
