//! Lowering of the typed tree to the kernel's effects: pointers, structs, returns, `switch`, order of evaluation.

mod support;

use base::{Diagnostic, Severity};
use kir::Kernel;
use support::print::printed;

fn read(text: &str) -> Vec<Result<Kernel, Box<Diagnostic>>> {
    let options = cuda::preprocess::Options::default();
    let read = cuda::preprocess::preprocess(&options, text).expect("tokens");
    let unit = cuda::syntax::parse(&read).expect("a file");
    let program = cuda::sema::analyse(&unit, &cuda::sema::Options::default()).expect("a program");
    cuda_front::lower(&program).into_iter().map(|(_, kernel)| kernel).collect()
}

/// The lowered statements of the last kernel of a text, without declarations.
fn lowered(text: &str) -> String {
    let kernel = read(text).pop().expect("a kernel");
    let kernel = kernel.unwrap_or_else(|refusal| panic!("{}: {text}", refusal.message));
    let all = printed(&kernel);
    let lines = all.lines().filter(|one| !one.starts_with("array ") && !one.starts_with("scalar "));
    lines.collect::<Vec<_>>().join("\n")
}

/// The severity and message of the refusal of a text's last kernel.
fn refused(text: &str) -> (Severity, String) {
    match read(text).pop().expect("a kernel") {
        Ok(kernel) => panic!("{}", printed(&kernel)),
        Err(refusal) => (refusal.severity, refusal.message.to_string()),
    }
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    let found = lowered(text);
    let mut rest = found.as_str();
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => panic!("`{part}` is missing in order in\n{found}"),
        }
    }
}

#[test]
fn a_pointer_holds_one_of_several_arrays() {
    let text = "__global__ void k(float* a, float* b, int c) {
        float* p;
        if (c) p = a; else p = b + 1;
        p[2] = 1;
    }";
    has(text, &["which#3 = 0", "p#4 = a#1", "which#3 = 1", "p#4 = Add.int64_t(b#2, 1)"]);
    has(text, &["if Eq(which#3, 0)", "a[Add.int64_t(p#4, 2)]", "else", "b[Add.int64_t(p#4, 2)]"]);
}

#[test]
fn a_pointer_that_gets_another_array_later_is_tested_before() {
    let text = "__global__ void k(float* a, float* b, int n) {
        float* p = a;
        for (int i = 0; i < n; i++) { *p = 1; p = b; }
    }";
    has(
        text,
        &["which#3 = 0", "loop", "if Eq(which#3, 0)", "a[p#4]", "else", "b[p#4]", "which#3 = 1"],
    );
}

#[test]
fn a_pointer_without_a_value_points_nowhere() {
    let text =
        "__global__ void k(int* o, int n) { int x = 0; int* p; if (n) p = &x; *p = 3; o[0] = x; }";
    has(text, &["which#3 = 1", "which#3 = 0", "if Eq(which#3, 0)", "x#2 = ", "nullptr[0] = "]);
    let text = "__global__ void k(int* o) { int* p; *p = 3; }";
    assert_eq!(refused(text).0, Severity::Unsupported);
}

#[test]
fn null_pointers_of_the_launch_are_scalars() {
    let text = "__global__ void k(float* a, const float* bias, int i) { if (bias != nullptr) a[i] = bias[i]; }";
    let kernel = read(text).pop().unwrap().unwrap();
    let names: Vec<&str> =
        kernel.scalars.iter().map(|var| kernel.vars[*var].name.as_str()).collect();
    assert_eq!(names, ["i", "bias == nullptr"]);
}

#[test]
fn returns_in_loops_leave_the_loops_alone() {
    let text = "__device__ int find(const int* x, int n) {
        for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) if (x[i + j] == 3) return j; }
        return -1;
    }
    __global__ void k(int* x, int n) { x[0] = find(x, n); }";
    has(text, &["returned#4 = 0", "loop", "loop", "find#8 = j#6", "returned#4 = 1", "break"]);
    has(text, &["step", "if returned#4", "break", "if Not(returned#4)", "find#8 = -1", "x[x#1]"]);
}

#[test]
fn early_returns_need_no_flag() {
    let text = "__device__ int clamp(int x, int most) { if (x < 0) return 0; if (x > most) { return most; } return x; }
    __global__ void k(int* a, int n) { a[0] = clamp(n, 3); }";
    let found = lowered(text);
    assert!(!found.contains("returned"), "{found}");
    has(text, &["if Lt(x#2, 0)", "clamp#4 = 0", "else", "if Gt(x#2, most#3)"]);
}

#[test]
fn switch_falls_through() {
    let text = "__global__ void k(int* x, int n) {
        int v = 0;
        switch (n) { case 0: v = 1; break; case 1: v = 2; case 2: if (x[0]) break; v += 5; break; default: v = 9; }
        x[1] = v;
    }";
    has(
        text,
        &["if Eq(switch#3, 0)", "v#2 = 1", "if Eq(switch#3, 1)", "v#2 = 2", "else", "v#2 = Add"],
    );
    has(text, &["if Eq(switch#3, 2)", "loaded", "v#2 = Add", "else", "v#2 = 9"]);
}

#[test]
fn the_right_side_of_an_assignment_comes_first() {
    has(
        "__global__ void k(int* a, int i) { a[i] = i++; }",
        &["before#2 = i#0", "i#0 = Add", "a[Add.int64_t(a#1, <int64_t>i#0)]"],
    );
}

#[test]
fn views_are_of_the_same_scalars() {
    has(
        "__global__ void k(float* x) { ((float4*)x)[2].y = 1; }",
        &["x[Add.int64_t(x#0, Add.int64_t(Mul.int64_t(4, 2), 1))]"],
    );
    // Elements of the same width are read as their bits.
    has(
        "__global__ void k(float* x) { auto p = (int*)x; p[0] = p[1]; }",
        &["= __float_as_int(", "= __int_as_float("],
    );
    for cast in ["(double*)x", "(char*)x", "(half*)x", "(float3*)((double*)x)"] {
        let text = format!(
            "#include <cuda_fp16.h>\n__global__ void k(float* x) {{ auto p = {cast}; p[0] = p[1]; }}"
        );
        assert_eq!(refused(&text).0, Severity::Unsupported, "{cast}");
    }
    has(
        "__global__ void k(int* x) { ((unsigned*)x)[1] = 4294967295u; }",
        &["x[Add.int64_t(x#0, 1)] = <int>stored"],
    );
}

#[test]
fn structs_go_by_their_scalars() {
    let text =
        "struct S { float v[2]; int n; }; __global__ void k(S* s) { S t = s[1]; t.n++; s[0] = t; }";
    has(
        text,
        &[
            "s.v[Add.int64_t(s#0, 1), 0]",
            "s.v[Add.int64_t(s#0, 1), 1]",
            "s.n[Add.int64_t(s#0, 1)]",
            "t.n#",
        ],
    );
    assert_eq!(
        refused("union U { int a; float b; }; __global__ void k(U* u) { u[0].a = 1; }").0,
        Severity::Unsupported
    );
}

#[test]
fn functions_return_references_and_structs_with_pointers() {
    let text = "struct V { float* p; __device__ float& at(int i) { return p[i]; } };
    __device__ V make(float* p) { V v; v.p = p + 1; return v; }
    __global__ void k(float* x, int i) { make(x).at(i) = 3; }";
    has(text, &["x[", "] = stored"]);
}

#[test]
fn tables_of_constants_are_known() {
    let text =
        "__constant__ const int t[3] = {5, 6}; __global__ void k(float* x, int i) { x[t[i]] = 1; }";
    has(text, &["t[<int64_t>i#0]", "? 5 :", "? 6 :", "? 0 : loaded"]);
}

#[test]
fn ldg_reads_only_arrays_that_are_not_written() {
    has("__global__ void k(const int* a, int* b) { b[0] = __ldg(a); }", &["a[a#0]"]);
    assert_eq!(
        refused("__global__ void k(int* a) { a[0] = __ldg(a + 1); }").0,
        Severity::Unsupported
    );
}

#[test]
fn results_of_hardware_are_unknown_each_time() {
    has(
        "__global__ void k(long long* a) { for (int i = 0; i < 3; i++) a[i] = clock64(); }",
        &["while", "= ?", "step"],
    );
    has(
        "__global__ void k(int* a, unsigned u) { a[0] = __popc(u); }",
        &["= __popc(", "Min.unsigned int(", "32)"],
    );
    has(
        "__global__ void k(int* a) { a[0] = __popc(7u) + __clz(1) + __ffs(8); }",
        &["Add.int(Add.int(3, 31), 4)"],
    );
}

#[test]
fn small_integers_are_stepped_as_int() {
    has("__global__ void k(unsigned char* c) { c[0]++; }", &["<uint8_t>Add.int(<int>loaded"]);
}

#[test]
fn rows_lie_behind_each_other() {
    let text = "__global__ void k(float* o, int i) { __shared__ float s[4][8]; float* q = &s[0][0]; q[i] = 1; s[1][2] = o[0]; }";
    has(text, &["s[Div.int64_t(Add.int64_t(q#", "8), Rem.int64_t(", "8)] = stored"]);
    has(text, &["s[1, 2] = stored"]);
}
