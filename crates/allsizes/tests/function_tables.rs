//! Tables of functions: a call through an element calls exactly the function in that element.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use support::{kernel, solver};

const OPTIONS: Options = Options { infers: true, suggests: false };

/// A kernel with one thread that calls through a table.
fn with(table: &str, claim: &str, body: &str) -> String {
    format!(
        "typedef int (*op_t)(int, int);
         __device__ int add(int a, int b) {{ return a + b; }}
         __device__ int sub(int a, int b) {{ return a - b; }}
         __device__ int first(int a, int b) {{ return a; }}
         {table}
         //@ extent out[1];
         //@ requires gridDim.x == 1 && blockDim.x == 1 && n >= 0 && n <= 1000;
         //@ ensures {claim};
         __global__ void k(int* out, int n) {{ {body} }}"
    )
}

fn verdict(text: &str, property: Property) -> Verdict {
    let (answer, _) = allsizes::prove(&kernel(text), solver(), OPTIONS);
    assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    let found = answer.properties.iter().find(|one| one.property == property);
    found.unwrap_or_else(|| panic!("{property:?} is not looked at: {text}")).verdict
}

const TABLES: [&str; 3] = [
    "__device__ const op_t table[] = {add, sub, first};",
    "constexpr op_t table[3] = {&add, &sub, &first};",
    "static __device__ const op_t table[3] = {add, &sub, first};",
];

#[test]
fn the_function_of_an_element_is_called() {
    for table in TABLES {
        for (claim, body) in [
            ("out[0] == n + 3", "out[0] = table[0](n, 3);"),
            ("out[0] == n - 3", "out[0] = table[1](n, 3);"),
            ("out[0] == n", "op_t f = table[2]; out[0] = f(n, 3);"),
            ("out[0] == n - 3", "out[0] = (*table[2 - 1])(n, 3);"),
        ] {
            let text = with(table, claim, body);
            assert_eq!(verdict(&text, Property::Postcondition), Verdict::Proved, "{table} {body}");
        }
        for (claim, body) in [
            ("out[0] == n - 3", "out[0] = table[0](n, 3);"),
            ("out[0] == n + 3", "out[0] = table[n % 3](n, 3);"),
            ("out[0] == n + 3", "op_t f = table[0]; f = table[1]; out[0] = f(n, 3);"),
        ] {
            let text = with(table, claim, body);
            assert_ne!(verdict(&text, Property::Postcondition), Verdict::Proved, "{table} {body}");
        }
        let text = with(table, "out[0] == out[0]", "out[0] = table[n % 3](n, 3);");
        assert_eq!(verdict(&text, Property::Bounds), Verdict::Proved);
        let text = with(table, "out[0] == out[0]", "out[0] = table[n](n, 3);");
        assert_eq!(verdict(&text, Property::Bounds), Verdict::Refuted);
        let text = with(table, "out[0] == out[0]", "out[0] = table[n - 1](n, 3);");
        assert_eq!(verdict(&text, Property::Bounds), Verdict::Refuted);
    }
}

/// A race in one of the functions is a race of the kernel; an element without a function is not called.
#[test]
fn every_function_of_the_table_counts() {
    let text = |table: &str, index: &str| {
        format!(
            "typedef void (*op_t)(int*, int);
             __device__ void own(int* a, int i) {{ a[i] = i; }}
             __device__ void shared(int* a, int i) {{ a[0] = i; }}
             __device__ const op_t table[3] = {{{table}}};
             //@ requires gridDim.x == 1 && blockDim.x >= 2 && n >= 0;
             __global__ void k(int* a, int n) {{ table[{index}](a, threadIdx.x); }}"
        )
    };
    assert_eq!(verdict(&text("own, own, own", "n % 3"), Property::Races), Verdict::Proved);
    assert_eq!(verdict(&text("own, shared, own", "0"), Property::Races), Verdict::Proved);
    assert_eq!(verdict(&text("own, shared, own", "n % 3"), Property::Races), Verdict::Refuted);
    assert_eq!(verdict(&text("own, own, shared", "2"), Property::Races), Verdict::Refuted);
    assert_eq!(verdict(&text("own, own", "n % 3"), Property::Invariant), Verdict::Refuted);
}

#[test]
fn tables_that_may_change_are_refused() {
    for table in [
        "__device__ op_t table[] = {add, sub, first};",
        "__constant__ op_t table[] = {add, sub, first};",
        "__device__ const op_t table[17] = {add, sub, first};",
    ] {
        let text = with(table, "out[0] == n + 3", "out[0] = table[0](n, 3);");
        let kernels = cuda_front::kernels(&text).expect("a file");
        assert!(kernels.iter().all(|(_, kernel)| kernel.is_err()), "{table}");
    }
}
