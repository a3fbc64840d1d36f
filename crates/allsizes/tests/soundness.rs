//! Kernels for which a proof was once wrong or the engine once failed.

mod support;

use allsizes::{Answer, Options, Verdict, engine::Property};
use support::kernel;

fn answer(text: &str) -> Answer {
    let (answer, _) =
        allsizes::prove(&kernel(text), None, Options { infers: true, suggests: false });
    assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    answer
}

fn verdict(answer: &Answer, property: Property) -> Verdict {
    let found = answer.properties.iter().find(|one| one.property == property);
    found.expect("the property").verdict
}

/// Facts about a loop's variables were assumed for threads that never reach the loop.
#[test]
fn facts_of_a_loop_hold_for_threads_in_it_alone() {
    let answer = answer(
        "//@ extent c[n+1];
         //@ requires n >= 1;
         __global__ void k(int* c, int n) {
           int t = threadIdx.x; int x = 0;
           if (t < n) { x = t; while (x < n) x = min(2*x + 1, n); }
           if (x >= 0) c[t] = 1;
         }",
    );
    assert_eq!(verdict(&answer, Property::Bounds), Verdict::Refuted);
}

/// An unsigned variable that wraps between two iterations was assumed to have its value in the integers.
#[test]
fn carried_values_may_wrap() {
    let answer = answer(
        "//@ extent c[n];
         //@ requires n >= 1;
         __global__ void k(int* c, int n) {
           unsigned s = 1; int t = threadIdx.x;
           for (int i = 0; i < n; i++) { if (t == 0) c[i / s] = 7; s *= 2; }
         }",
    );
    // Wrapping is defined; the wrapped value is unsupported.
    assert_eq!(verdict(&answer, Property::Overflow), Verdict::Unknown);
}

/// A barrier in the step of a loop was searched in its body.
#[test]
fn barriers_in_the_step_of_a_loop() {
    let text = |index: &str| {
        format!(
            "//@ extent a[blockDim.x];
             __global__ void k(int* a) {{
               int t = threadIdx.x;
               for (int i = 0; i < 3; i++, __syncthreads()) a[{index}] = t;
             }}"
        )
    };
    assert_eq!(verdict(&answer(&text("t")), Property::Races), Verdict::Proved);
    let crossed = answer(&text("(t + i) % blockDim.x"));
    assert_eq!(verdict(&crossed, Property::Barriers), Verdict::Proved);
    let missing = answer(&text("(t + i) % blockDim.x").replace(", __syncthreads()", ""));
    assert_eq!(verdict(&missing, Property::Races), Verdict::Refuted);
}

/// The number of a loop's iterations differs between threads, whatever its body computes with.
#[test]
fn values_differ_where_loops_ran_differently_often() {
    let answer = answer(
        "__global__ void k(float* a) {
           float x = 1; int t = threadIdx.x;
           for (int i = 0; i < t; i++) x *= 2.0f;
           if (x > 4) __syncthreads();
           if (t == 0) a[0] = x;
         }",
    );
    assert_eq!(verdict(&answer, Property::Barriers), Verdict::Refuted);
}

/// Bits of a wrapped value are those of the value; a run once reported an overflow whose absence was proved.
#[test]
fn bits_of_wrapped_values() {
    let text = |index: &str| {
        format!(
            "//@ extent a[64];
             //@ requires blockDim.x <= 64;
             __global__ void k(int* a) {{ unsigned t = threadIdx.x; a[{index}] = t; }}"
        )
    };
    let masked = answer(&text("t & ~1"));
    assert_eq!(verdict(&masked, Property::Overflow), Verdict::Proved);
    assert_eq!(verdict(&masked, Property::Races), Verdict::Refuted);
    let hashed = answer(&text("(t * 2654435761u) & 63"));
    assert_eq!(verdict(&hashed, Property::Bounds), Verdict::Proved);
    assert_eq!(verdict(&hashed, Property::Overflow), Verdict::Proved);
    assert_ne!(verdict(&answer(&text("(t | ~7u) & 7")), Property::Races), Verdict::Proved);
    assert_ne!(verdict(&answer(&text("(t ^ 64) & 31")), Property::Races), Verdict::Proved);
}

/// Values that feed only data may wrap; values that feed an index may not.
#[test]
fn random_numbers_are_no_overflow() {
    let text = |index: &str| {
        format!(
            "//@ extent out[n];
             //@ requires n >= 1 && n <= 1000;
             __global__ void k(unsigned* out, int n, unsigned seed, int rounds) {{
               int i = threadIdx.x;
               if (i >= n) return;
               unsigned s = seed + i * 747796405u;
               for (int r = 0; r < rounds; r++) {{ s = s * 1664525u + 1013904223u; s ^= s >> 16; }}
               unsigned long long wide = s;
               out[{index}] = s / 3 + (unsigned)(wide >> 8) + min(s, 7u);
             }}"
        )
    };
    let data = answer(&text("i"));
    assert!(data.properties.iter().all(|one| one.verdict == Verdict::Proved), "{data:?}");
    // Wrapping of unsigned numbers is defined; an index computed from a wrapped number is unsupported.
    assert_eq!(verdict(&answer(&text("s % n")), Property::Overflow), Verdict::Unknown);
}

/// After a loop left by `break`, the condition tested there is known for the threads that left there.
#[test]
fn exits_by_break() {
    let text = |test: &str| {
        format!(
            "//@ extent a[n];
             //@ requires n >= 1;
             __global__ void k(int* a, unsigned n) {{
               unsigned x = threadIdx.x;
               while (true) {{ if ({test}) break; x = x / 2; }}
               a[x] = 1;
             }}"
        )
    };
    assert_eq!(verdict(&answer(&text("x < n")), Property::Bounds), Verdict::Proved);
    assert_eq!(verdict(&answer(&text("x <= n")), Property::Bounds), Verdict::Refuted);
}

/// The answer names a helpful requirement: one under which the property was proved.
#[test]
fn the_demand_that_would_help() {
    let suggested = |text: &str, property: Property| {
        let (_, kernel) = cuda_front::kernels(text).expect("a file").remove(0);
        let options = Options { infers: true, suggests: true };
        let kernel = kernel.expect("a kernel").for_every_launch();
        let (answer, _) = allsizes::prove(&kernel, None, options);
        let found = answer.properties.into_iter().find(|one| one.property == property);
        found.expect("the property").holds_if
    };
    let overflow = "//@ extent c[n];
        __global__ void k(float* c, int n) {
          int i = blockIdx.x*blockDim.x + threadIdx.x;
          if (i < n) c[i] = 1;
        }";
    let found = suggested(overflow, Property::Overflow);
    assert_eq!(found, ["gridDim.x*blockDim.x <= 2147483647"]);
    let fine = overflow.replace("__global__", "//@ requires n >= 0 && gridDim.x == 1;\n__global__");
    assert_eq!(suggested(&fine, Property::Overflow), Vec::<String>::new());
}

/// `__match_all_sync` left its second result, behind a pointer, as it was.
#[test]
fn a_vote_writes_through_its_pointer() {
    let answer = answer(
        "//@ extent a[64];
         //@ requires gridDim.x == 1 && blockDim.x == 64;
         __global__ void k(int* a, int v) {
           int pred = 0;
           __match_all_sync(0xffffffffu, v, &pred);
           if (pred) a[threadIdx.x + 1000] = 1;
         }",
    );
    assert_eq!(verdict(&answer, Property::Bounds), Verdict::Unknown);
}
