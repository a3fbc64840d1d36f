//! Pairs of kernels once wrongly called equal: numbers known only modulo 2^bits, impossible contents, parameters that
//! differ.

mod support;

use allsizes::{Options, PairAnswer, PairError, Verdict};
use support::{kernel, solver};
use testing::Random;

fn compared(one: &str, two: &str) -> Result<PairAnswer, PairError> {
    let options = Options { infers: true, suggests: false };
    let compared = allsizes::compare([&kernel(one), &kernel(two)], solver(), options)?.0;
    assert!(!compared.contradiction, "{:?}\n{one}\n{two}", compared.difference);
    Ok(compared)
}

/// A kernel of one block whose threads from 700 on compute `body`: too many for a run.
fn late(parameters: &str, body: &str) -> String {
    format!(
        "//@ extent p[n], q[n], r[n];
         //@ requires gridDim.x == 1 && blockDim.x == n && n > 800;
         __global__ void k({parameters}, int n) {{
           __shared__ unsigned us[1024], ut[1024], uw[1024];
           __shared__ int is[1024], it[1024], iw[1024];
           __shared__ unsigned char cs[1024], ct[1024];
           __shared__ long long ls[1024];
           int t = threadIdx.x;
           {body}
         }}"
    )
}

fn assert_open(parameters: &str, one: &str, two: &str) {
    let compared = compared(&late(parameters, one), &late(parameters, two)).expect("a pair");
    assert_ne!(compared.verdict, Verdict::Proved, "{one}\n{two}");
}

#[test]
fn the_greatest_number_of_one_type_is_not_that_of_another() {
    let ints = "const int* p, const int* q, int* r";
    for name in ["max", "min"] {
        let signed = format!("r[t] = {name}(p[t], q[t]);");
        let unsigned =
            format!("us[t] = p[t]; ut[t] = q[t]; uw[t] = {name}(us[t], ut[t]); r[t] = uw[t];");
        assert_open(ints, &signed, &unsigned);
        let same =
            format!("is[t] = p[t]; it[t] = q[t]; iw[t] = {name}(is[t], it[t]); r[t] = iw[t];");
        let compared = compared(&late(ints, &signed), &late(ints, &same)).expect("a pair");
        assert_eq!(compared.verdict, Verdict::Proved, "{:?}", compared.open);
    }
}

#[test]
fn the_greatest_number_is_not_that_of_fewer_bits() {
    let longs = "const long long* p, const long long* q, int* r";
    let wide = "ls[t] = max(p[t], q[t]); r[t] = ls[t];";
    let narrow = "is[t] = p[t]; it[t] = q[t]; iw[t] = max(is[t], it[t]); r[t] = iw[t];";
    assert_open(longs, wide, narrow);
    let bytes = "const unsigned* p, const unsigned* q, unsigned char* r";
    let wide = "us[t] = max(p[t], q[t]); r[t] = us[t];";
    let narrow = "cs[t] = p[t]; ct[t] = q[t]; r[t] = max(cs[t], ct[t]);";
    assert_open(bytes, wide, narrow);
    // A number outside the type's range.
    let ints = "const unsigned char* p, const unsigned char* q, unsigned char* r";
    assert_open(
        ints,
        "cs[t] = p[t]; r[t] = max(cs[t], 300);",
        "cs[t] = p[t]; r[t] = max(cs[t], 44);",
    );
}

#[test]
fn a_tree_of_unsigned_numbers_is_not_one_of_signed_ones() {
    let options = Options { infers: true, suggests: false };
    let text = |shared: &str| {
        format!(
            "//@ extent in[blockDim.x], out[1], s[blockDim.x];
             //@ requires gridDim.x == 1 && \\is_pow2(blockDim.x);
             //@ ensures blockDim.x > 500 ==> out[0] == \\fold(max, k, 0, blockDim.x, in[k]);
             __global__ void k(const int* in, int* out) {{
               extern __shared__ {shared} s[]; int t = threadIdx.x; s[t] = in[t]; __syncthreads();
               for (int d = blockDim.x/2; d > 0; d /= 2) {{
                 if (t < d) s[t] = max(s[t], s[t + d]);
                 __syncthreads();
               }}
               if (t == 0) out[0] = s[0];
             }}"
        )
    };
    for (shared, wanted) in [("unsigned", false), ("int", true)] {
        let (answer, _) = allsizes::prove(&kernel(&text(shared)), solver(), options);
        let found = answer
            .properties
            .iter()
            .find(|one| one.property == allsizes::engine::Property::Postcondition);
        let proved = found.is_some_and(|one| one.verdict == Verdict::Proved);
        // The proof needs z3.
        assert_eq!(proved, wanted && solver().is_some(), "{shared}: {found:?}");
    }
}

#[test]
fn contents_that_no_memory_has_make_nothing_equal() {
    let text = |demand: &str, body: &str| {
        format!(
            "//@ extent out[n], x[n];
             //@ requires n >= 1 && gridDim.x == 1 && blockDim.x == n;
             //@ requires \\forall int i; 0 <= i < n ==> {demand};
             __global__ void k(int* out, const int* x, int n) {{ int t = threadIdx.x; {body} }}"
        )
    };
    let (large, small) = ("if (x[t] > 7) out[t] = 2;", "if (x[t] < 7) out[t] = 2;");
    let contradictory = compared(&text("x[i] > 7", large), &text("x[i] < 7", small));
    assert_ne!(contradictory.expect("a pair").verdict, Verdict::Proved);
    // Contents that satisfy both contracts are found.
    let common =
        compared(&text("x[i] > 2", "out[t] = x[t];"), &text("x[i] < 6", "out[t] = x[t] + 0;"));
    let common = common.expect("a pair");
    assert_eq!(common.verdict, Verdict::Proved, "{:?}", common.open);
}

#[test]
fn parameters_of_one_name_have_one_type() {
    let text = |parameter: &str| {
        format!(
            "//@ extent out[1];
             //@ requires gridDim.x == 1 && blockDim.x == 1;
             __global__ void k(int* out, {parameter}) {{ out[0] = x; }}"
        )
    };
    for other in ["unsigned char x", "long long x", "unsigned x", "bool x"] {
        let refusal = compared(&text("int x"), &text(other)).expect_err("other types");
        assert!(matches!(&refusal, PairError::Types { name, .. } if name == "x"), "{refusal}");
        assert!(refusal.to_string().contains("`x` is `int` in the first kernel"), "{refusal}");
    }
    let pointer = text("int* x").replace("out[0] = x", "out[0] = 1");
    let refusal = compared(&text("int x"), &pointer).expect_err("a pointer");
    assert!(matches!(refusal, PairError::PointerAndNumber(_)), "{refusal}");
    assert_eq!(
        compared(&text("int x"), &text("const int x")).expect("a pair").verdict,
        Verdict::Proved
    );
}

/// A thread's store, through shared memory of some types.
fn body(random: &mut Random) -> String {
    let first = random.pick(&["int", "unsigned", "unsigned char", "short", "long long"]);
    let second = random.pick(&["int", "unsigned", "int"]);
    let value = random.pick(&[
        "max(s[t], u[t])",
        "min(s[t], u[t])",
        "s[t] / 2",
        "s[t] >> 1",
        "s[t] % 3",
        "abs((int)s[t])",
        "(s[t] < u[t] ? s[t] : u[t])",
        "s[t] + u[t]",
        "(s[t] | u[t])",
        "max((int)s[t], 3)",
    ]);
    format!(
        "__shared__ {first} s[64], u[64]; __shared__ {second} w[64];
         s[t] = p[t]; u[t] = q[t]; w[t] = {value}; r[t] = w[t];"
    )
}

/// Pairs with other types in intermediate results. Runs on contents of all sizes contradict no proof.
#[test]
fn random_types_on_the_way() {
    let mut random = Random::new(0x0dd_ba11);
    let mut proved = 0;
    for _ in 0..60 {
        let element = random.pick(&["int", "unsigned", "long long"]);
        let text = |body: &str| {
            format!(
                "//@ extent p[n], q[n], r[n];
                 //@ requires gridDim.x == 1 && blockDim.x == n && n <= 64;
                 __global__ void k(const {element}* p, const {element}* q, int* r, int n) {{
                   int t = threadIdx.x; {body} }}"
            )
        };
        let (one, two) = (text(&body(&mut random)), text(&body(&mut random)));
        let compared = compared(&one, &two).expect("a pair");
        proved += usize::from(compared.verdict == Verdict::Proved);
    }
    assert!(proved < 30, "{proved}");
}

#[test]
fn parameters_of_one_name_lie_in_memory_alike() {
    let text = |types: &str, parameter: &str| {
        format!(
            "{types}
             //@ extent out[1];
             //@ requires gridDim.x == 1 && blockDim.x == 1;
             __global__ void k(int* out, {parameter}) {{ out[0] = 1; }}"
        )
    };
    let refused = [
        ("float* a", "double* a"),
        ("float* a", "__half* a"),
        ("__nv_bfloat16* a", "__half* a"),
        ("float a", "double a"),
        ("float2* a", "float4* a"),
        ("float3* a", "float4* a"),
        ("struct {} P", "struct { float y, x; } P"),
        ("struct {} P", "struct { float x; double y; } P"),
        ("struct {} P", "struct { float x; float z[2]; float y; } P"),
        ("struct {} P", "struct alignas(16) { float x, y; } P"),
    ];
    for (one, other) in refused {
        let [one, other] = [one, other].map(|which| match which.strip_suffix(" P") {
            Some(record) => {
                let record = record.replace("{}", "{ float x, y; }").replace("struct", "struct ");
                let (head, body) = record.split_once('{').expect("a struct");
                text(&format!("{head} P {{{body};"), "P* a")
            }
            None => text("#include <cuda_fp16.h>\n#include <cuda_bf16.h>", which),
        });
        let refusal = compared(&one, &other).expect_err("other layouts");
        assert!(matches!(refusal, PairError::Types { .. }), "{one}{other}{refusal}");
    }
    let same = [
        text("struct P { float x, y; };", "P* a"),
        text("struct Q { float x, y; };", "const Q* a"),
    ];
    assert_eq!(compared(&same[0], &same[1]).expect("a pair").verdict, Verdict::Proved);
    let shape = |shape: &str| {
        format!(
            "__device__ int w{shape};
             //@ extent out[1];
             //@ requires gridDim.x == 1 && blockDim.x == 1;
             __global__ void k(int* out) {{ out[0] = w[1][1]; }}"
        )
    };
    compared(&shape("[2][3]"), &shape("[3][2]")).expect_err("another shape");
}

/// One thread for each of `n` elements, with room after them.
fn plain(body: &str) -> String {
    format!(
        "//@ extent x[n + 16], y[n];
         //@ requires n >= 1 && n <= 100000 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 100000;
         __global__ void k(const float* x, float* y, int n) {{
           int i = blockIdx.x*blockDim.x + threadIdx.x;
           if (i < n) {{ {body} }}
         }}"
    )
}

/// A quotient of a multiple of a quotient is that quotient, not a quotient of itself.
#[test]
fn quotients_of_their_own_multiples_end() {
    let one = plain("int q = i/3; int r = (4*q)/4; y[i] = x[r];");
    let two = plain("y[i] = x[i/3];");
    for (one, two) in [(&one, &one), (&one, &two)] {
        let compared = compared(one, two).expect("a pair");
        assert_eq!(compared.verdict, Verdict::Proved, "{:?}", compared.open);
    }
}

/// A loop that tests at the end, after a first test of the same condition, equals one that tests at the beginning.
/// After a test of another condition it does not.
#[test]
fn rotated_loops_are_loops() {
    let text = |start: &str| plain(&format!("float a = 0.0f; int k = i; {start} y[i] = a;"));
    let whole = text("while (k < n) { a += x[k]; k++; }");
    let turned = |test: &str| text(&format!("if ({test}) do {{ a += x[k]; k++; }} while (k < n);"));
    let skipping = |from: &str| {
        text(&format!("{from} {{ k++; if (k % 2 == 0) continue; a += x[k]; }} while (k < n);"))
    };
    let verdict = |one: &str, two: &str| compared(one, two).expect("a pair").verdict;
    assert_eq!(verdict(&whole, &turned("k < n")), Verdict::Proved);
    assert_eq!(verdict(&whole, &turned("k + 1 < n")), Verdict::Refuted);
    let before = text("while (k < n) { k++; if (k % 2 == 0) continue; a += x[k]; }");
    assert_ne!(verdict(&before, &skipping("if (k < n) do")), Verdict::Refuted);
    let of_none = |test: &str| text(&format!("k = n; {test} {{ a += x[k]; k++; }} while (k < n);"));
    assert_eq!(verdict(&of_none("if (k < n) do"), &of_none("do")), Verdict::Refuted);
}
