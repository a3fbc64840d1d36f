//! The launches that a proof covers: the x axis always, other axes if something mentions them, and their sizes.

mod support;

use allsizes::{Answer, Options, Verdict, engine::Property};
use kir::Kernel;
use support::solver;

fn read(text: &str) -> Kernel {
    cuda_front::kernels(text).expect("a file").remove(0).1.expect("a kernel")
}

fn answer_of(kernel: &Kernel) -> Answer {
    let (answer, _) = allsizes::prove(kernel, solver(), Options { infers: true, suggests: true });
    assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    answer
}

fn answer(text: &str) -> Answer {
    answer_of(&read(text))
}

fn verdict(answer: &Answer, property: Property) -> Verdict {
    let found = answer.properties.iter().find(|one| one.property == property);
    found.expect("the property").verdict
}

fn hints(answer: &Answer, property: Property) -> Vec<String> {
    let found = answer.properties.iter().find(|one| one.property == property);
    found.expect("the property").holds_if.clone()
}

#[test]
fn blocks_and_threads_that_nothing_mentions_are_many() {
    let one = answer("//@ extent p[1];\n__global__ void k(int* p) { p[0] = p[0] + 1; }");
    assert_eq!(verdict(&one, Property::Races), Verdict::Refuted);
    let races = one.properties.iter().find(|one| one.property == Property::Races);
    let launch = &races.expect("races").findings[0].launch;
    assert_eq!(launch.threads(), 2, "the smallest launch");
    assert_eq!(hints(&one, Property::Races), ["gridDim.x == 1 && blockDim.x == 1"]);
    let text = "//@ extent p[blockDim.x];\n__global__ void k(int* p) { p[threadIdx.x] += 1; }";
    let many = answer(text);
    assert_eq!(verdict(&many, Property::Races), Verdict::Refuted);
    assert_eq!(hints(&many, Property::Races), ["gridDim.x == 1"]);
    let single = answer(&format!("//@ requires gridDim.x == 1;\n{text}"));
    assert_eq!(verdict(&single, Property::Races), Verdict::Proved);
}

#[test]
fn other_axes_are_one_unless_mentioned_or_wanted() {
    let text = "//@ extent p[blockDim.x];\n//@ requires gridDim.x == 1;
                __global__ void k(int* p) { p[threadIdx.x] = threadIdx.x + p[threadIdx.x]; }";
    assert_eq!(verdict(&answer(text), Property::Races), Verdict::Proved);
    let strict = answer_of(&read(text).for_every_launch());
    assert_eq!(verdict(&strict, Property::Races), Verdict::Refuted);
    let mentioned = text.replace("gridDim.x == 1", "gridDim.x == 1 && blockDim.y <= 4");
    assert_eq!(verdict(&answer(&mentioned), Property::Races), Verdict::Refuted);
}

#[test]
fn thread_numbers_fit_unless_every_launch_is_meant() {
    let text = "//@ extent a[n], c[n];
                __global__ void k(const float* a, float* c, int n) {
                  int i = blockIdx.x*blockDim.x + threadIdx.x;
                  if (i < n) c[i] = a[i];
                }";
    let plain = answer(text);
    assert_eq!(verdict(&plain, Property::Overflow), Verdict::Proved);
    assert_eq!(plain.limited, [true, false, false]);
    let strict = answer_of(&read(text).for_every_launch());
    // The conversion of the number to `int` wraps, which compilers define: it is open, and so are indices.
    assert_eq!(verdict(&strict, Property::Overflow), Verdict::Unknown);
    assert_ne!(verdict(&strict, Property::Bounds), Verdict::Proved);
    let said = answer(&format!("//@ requires gridDim.x*blockDim.x <= 2147483647;\n{text}"));
    assert_eq!(verdict(&said, Property::Overflow), Verdict::Proved);
    assert_eq!(said.limited, [false; 3], "the contract says it");
}

/// Contracts that small launches do not satisfy.
#[test]
fn large_sizes_are_found() {
    for demand in [
        "n >= 1000 && gridDim.x*blockDim.x <= 2147483647",
        "blockDim.x == 1024 && gridDim.x*blockDim.x <= 2147483647",
        "blockDim.x == 256 && gridDim.x*blockDim.x >= 4096 && gridDim.x*blockDim.x <= 2147483647",
        "blockDim.x == 256 && blockDim.x*gridDim.x <= n",
        "n == 100000 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647",
        "n > 5000 && n % 512 == 0 && blockDim.x == 512",
        "blockDim.x*gridDim.x == 65536",
    ] {
        let text = |index: &str| {
            format!(
                "//@ extent a[n];\n//@ requires {demand};
                 __global__ void k(float* a, int n) {{
                   int i = blockIdx.x*blockDim.x + threadIdx.x;
                   if (i < n) a[{index}] = i;
                 }}"
            )
        };
        let right = answer(&text("i"));
        assert_eq!(verdict(&right, Property::Races), Verdict::Proved, "{demand}");
        let wrong = answer(&text("i/2"));
        assert_eq!(verdict(&wrong, Property::Races), Verdict::Refuted, "{demand}");
        let outside = answer(&text("i + 1"));
        // With fewer threads than elements no access is outside.
        if !demand.contains("<= n") {
            assert_ne!(verdict(&outside, Property::Bounds), Verdict::Proved, "{demand}");
        }
    }
}

#[test]
fn a_branch_on_a_racy_value_keeps_the_race() {
    let racy = answer(
        "//@ extent a[blockDim.x + 1];
         //@ requires gridDim.x == 1;
         __global__ void k(int* a) {
           int t = threadIdx.x;
           a[t] = t;
           if (a[t + 1] > 3) a[t] = 7;
         }",
    );
    assert_eq!(verdict(&racy, Property::Races), Verdict::Refuted);
}

#[test]
fn equal_floats_are_no_race() {
    let text = |value: &str| {
        format!(
            "//@ extent a[1], b[n];
             //@ requires gridDim.x == 1 && n >= 1;
             __global__ void k(float* a, const float* b, int n, float c) {{ a[0] = {value}; }}"
        )
    };
    for value in ["1.5f", "c", "b[0]", "2.0f*b[0] + c"] {
        assert_ne!(verdict(&answer(&text(value)), Property::Races), Verdict::Refuted, "{value}");
    }
    assert_eq!(verdict(&answer(&text("threadIdx.x*c")), Property::Races), Verdict::Refuted);
}

#[test]
fn hints_are_what_people_write() {
    // A suggested requirement is accepted when pasted into the source, and settles its property.
    for text in [
        "//@ extent a[n];\n//@ requires gridDim.x*blockDim.x <= 2147483647;
         __global__ void k(float* a, int n) { a[blockIdx.x*blockDim.x + threadIdx.x] = 1; }",
        "//@ extent a[n], s[blockDim.x];\n//@ requires gridDim.x == 1;
         __global__ void k(float* a, int n) {
           extern __shared__ float s[]; int t = threadIdx.x; s[t] = t; __syncthreads();
           for (int d = blockDim.x/2; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
           if (t == 0) a[0] = s[0];
         }",
    ] {
        let first = answer(text);
        for checked in first.properties.iter().filter(|one| !one.holds_if.is_empty()) {
            let demand = checked.holds_if.join(" && ");
            assert!(!demand.contains("blockDim.x == 2"), "{demand}");
            let pasted = answer(&format!("//@ requires {demand};\n{text}"));
            assert_eq!(verdict(&pasted, checked.property), Verdict::Proved, "{demand}");
        }
    }
}

#[test]
fn refutations_need_launches_with_shared_memory_that_hardware_has() {
    let contract = "//@ extent tile[blockDim.x*pitch];\n//@ requires pitch == 2000000000;\n";
    let body = "{ int t = threadIdx.x; tile[t*pitch] = 1; }";
    let global = format!("{contract}__global__ void k(int* tile, int pitch) {body}");
    assert_eq!(verdict(&answer(&global), Property::Overflow), Verdict::Refuted);
    let shared = body.replace("{ int t", "{ extern __shared__ int tile[]; int t");
    let shared = format!("{contract}__global__ void k(int pitch) {shared}");
    assert_eq!(verdict(&answer(&shared), Property::Overflow), Verdict::Unknown);
}
