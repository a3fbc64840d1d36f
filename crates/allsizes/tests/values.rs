//! Values of small kernels: pairs of bodies that are equal for every size, and pairs that must never be proved equal.

mod support;

use Verdict::{Proved, Refuted, Unknown};
use allsizes::{Options, Verdict};
use support::kernel;

const LINE: &str = "//@ extent in[n], out[n];\n\
    //@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;\n";
const BLOCK: &str =
    "//@ extent in[n], out[n], s[blockDim.x];\n//@ requires n == gridDim.x*blockDim.x;\n";

/// A kernel with one thread per element.
fn line(parameters: &str, body: &str) -> String {
    format!(
        "{LINE}__global__ void k({parameters}, int n) {{\n\
         int i = blockIdx.x*blockDim.x + threadIdx.x;\nif (i < n) {{ {body} }}\n}}\n"
    )
}

/// A kernel with shared memory.
fn block(body: &str) -> String {
    format!(
        "{BLOCK}__global__ void k(const float* in, float* out, int n) {{\n\
         extern __shared__ float s[];\n\
         int t = threadIdx.x, i = blockIdx.x*blockDim.x + threadIdx.x;\n{body}\n}}\n"
    )
}

fn check(one: &str, two: &str, wanted: Verdict) {
    let (first, second) = (kernel(one), kernel(two));
    let options = Options { infers: true, suggests: false };
    let compared = allsizes::compare([&first, &second], None, options).expect("a pair").0;
    assert!(!compared.contradiction, "{one}{two}{:?}", compared.difference);
    assert_eq!(compared.verdict, wanted, "{one}{two}{:?}", compared.open);
}

fn floats(one: &str, two: &str, wanted: Verdict) {
    let parameters = "const float* in, float* out";
    check(&line(parameters, one), &line(parameters, two), wanted);
}

#[test]
fn the_last_store_counts() {
    floats("out[i] = 1.0f; out[i] = 2.0f;", "out[i] = 2.0f;", Proved);
    floats("out[i] = 1.0f; out[i] = 2.0f;", "out[i] = 1.0f;", Refuted);
    floats("for (int k = 0; k < n; k++) out[i] = in[k];", "out[i] = in[n-1];", Proved);
    floats("for (int k = 0; k < n; k++) out[i] = in[k];", "out[i] = in[0];", Refuted);
    let conditional = "out[i] = in[i]; if (i > 3) out[i] = 7.0f;";
    floats(conditional, "out[i] = i > 3 ? 7.0f : in[i];", Proved);
    floats(conditional, "out[i] = i >= 3 ? 7.0f : in[i];", Refuted);
    floats(
        "float s[2]; s[0] = in[i]; s[1] = 2.0f; out[i] = s[0]*s[1];",
        "out[i] = 2.0f*in[i];",
        Proved,
    );
    let overwritten = "float s[2]; s[0] = in[i]; s[1] = 2.0f; s[0] = s[1]; out[i] = s[0]*s[1];";
    floats(overwritten, "out[i] = 2.0f*in[i];", Refuted);
}

#[test]
fn initial_contents_are_inputs() {
    floats("out[i] = out[i] + 1.0f; out[i] = out[i] + 1.0f;", "out[i] = out[i] + 2.0f;", Proved);
    floats("out[i] = out[i] + 1.0f;", "out[i] = out[i] + 2.0f;", Refuted);
    floats("if (i > 0) out[i] = in[i];", "if (i > 1) out[i] = in[i];", Refuted);
    let handed_on = "for (int k = 0; k < 3; k++) out[i] = out[i] + in[i];";
    floats(handed_on, "out[i] = out[i] + in[i];", Refuted);
    floats("float v; if (i > 2) v = in[i]; out[i] = v;", "out[i] = in[i];", Unknown);
}

#[test]
fn sums_have_their_bounds() {
    let sum = |from: &str, to: &str, element: &str| {
        format!("float a = 0; for (int k = {from}; k < {to}; k++) a += {element}; out[i] = a;")
    };
    floats(&sum("1", "n", "in[k]"), &sum("0", "n - 1", "in[k+1]"), Proved);
    floats(&sum("0", "n - 3", "in[k]"), &sum("0", "n - 4", "in[k]"), Refuted);
    floats(&sum("0", "n", "in[k]"), &sum("0", "n", "2.0f*in[k] - in[k]"), Proved);
    let all = &sum("0", "n", "in[k]");
    floats("float a = 0; for (int k = 0; k < n; k += 2) a += in[k]; out[i] = a;", all, Refuted);
    let left =
        "float a = 0; for (int k = 0; k < n; k++) { if (k == 2) break; a += in[k]; } out[i] = a;";
    floats(left, all, Refuted);
    let skipped = "float a = 0; for (int k = 0; k < n; k++) { if (k == 2) continue; a += in[k]; } out[i] = a;";
    floats(skipped, all, Refuted);
    floats("float a = 1; for (int k = 0; k < n; k++) a *= in[k]; out[i] = a;", all, Refuted);
    let late =
        "float v = 0; float a = 0; for (int k = 0; k < n; k++) { a += v; v = in[k]; } out[i] = a;";
    floats(late, all, Refuted);
    let chosen =
        "float a = 0; for (int k = 0; k < n; k++) if (in[k] > 0.0f) a += in[k]; out[i] = a;";
    floats(chosen, &chosen.replace("0.0f)", "0.5f)"), Refuted);
    // A variable that changes irregularly between iterations is no constant of the sum.
    let bits = "float a = 0; int o = 1; for (int k = 0; k < n; k++) { a += (float)o; o = o ^ k; } out[i] = a;";
    floats(bits, &bits.replace("o ^ k", "o ^ (k+1)"), Refuted);
}

#[test]
fn integers_wrap_and_floats_do_not() {
    let words = "const unsigned* in, unsigned* out";
    let product = line(words, "out[i] = (in[i] + 1u)*(in[i] - 1u) + 2u;");
    check(&line(words, "out[i] = in[i]*in[i] + 1u;"), &product, Proved);
    let wide = "const unsigned* in, unsigned long long* out";
    let sum = line(wide, "out[i] = (unsigned long long)in[i] + 4294967295ull;");
    check(&line(wide, "unsigned v = in[i] + 4294967295u; out[i] = v;"), &sum, Refuted);
    let stored = line(wide, "unsigned s[1]; s[0] = in[i] + 4294967295u; out[i] = s[0];");
    check(&stored, &sum, Refuted);
    let real = "const int* in, float* out";
    let square = line(real, "out[i] = (float)in[i]*(float)in[i];");
    check(&line(real, "out[i] = (float)(in[i]*in[i]);"), &square, Unknown);
}

#[test]
fn functions_are_known_by_name() {
    floats("out[i] = fmaxf(in[i], 0.0f);", "out[i] = fmaxf(0.0f, in[i]);", Proved);
    floats("out[i] = fmaxf(in[i], 0.0f);", "out[i] = fminf(0.0f, in[i]);", Refuted);
    floats("out[i] = in[i]/2.0f;", "out[i] = 0.5f*in[i];", Proved);
    floats("out[i] = expf(in[i] + 0.0f);", "out[i] = expf(in[i]);", Proved);
    floats(
        "out[i] = in[i] > 0.5f ? 1.0f : 0.0f;",
        "out[i] = in[i] > 0.25f ? 1.0f : 0.0f;",
        Refuted,
    );
}

#[test]
fn shared_memory_is_looked_up_through_barriers() {
    let there = "s[t] = in[i]; __syncthreads(); float v = s[blockDim.x-1-t]; __syncthreads(); \
                 s[t] = v; __syncthreads(); ";
    let copy = block("out[i] = in[i];");
    check(&block(&format!("{there}out[i] = s[blockDim.x-1-t];")), &copy, Proved);
    check(&block(&format!("{there}out[i] = s[t];")), &copy, Refuted);
    let late = "for (int m = 0; m < gridDim.x; m++) { __syncthreads(); s[t] = in[m*blockDim.x + t]; } \
                __syncthreads(); out[i] = s[t];";
    check(&block(late), &block("out[i] = in[t];"), Refuted);
    // An element without a store has no value.
    let missing = block("if (t > 0) s[t] = in[i]; __syncthreads(); out[i] = s[t];");
    check(&missing, &copy, Unknown);
}

/// The test of a loop that is left reads values after all iterations.
#[test]
fn conditions_are_read_in_time() {
    let words = "const unsigned* in, unsigned* out";
    let grows =
        "out[i] = 0u; unsigned v = 0u; while ((v = out[i]) < 3u) out[i] = v + 1u; out[i] = v;";
    check(&line(words, grows), &line(words, "out[i] = 0u;"), Refuted);
}

/// Infinities are not numbers: `x − x` is not 0 for them, and the maximum of an empty range is one.
#[test]
fn infinities_are_not_computed_with() {
    floats("out[i] = in[i];", "float a = INFINITY; out[i] = in[i] + a*0;", Refuted);
    floats("float a = INFINITY; out[i] = in[i] + a*0;", "out[i] = in[i];", Unknown);
    let greatest = "float m = -INFINITY; for (int k = 0; k < K; k++) m = fmaxf(m, in[i]);";
    let of_some = |body: &str| {
        let text = line("const float* in, float* out, int K", &format!("{greatest} {body}"));
        (text.clone(), text.replace("requires n", "requires K >= 1 && K <= 1000 && n"))
    };
    let (perhaps_none, some) = of_some("out[i] = m - m;");
    let zero = line("const float* in, float* out, int K", "out[i] = 0;");
    let zero_of_some = zero.replace("requires n", "requires K >= 1 && K <= 1000 && n");
    check(&zero, &perhaps_none, Refuted);
    check(&perhaps_none, &zero, Unknown);
    check(&zero_of_some, &some, Proved);
    // The minimum of −∞ and any value remains −∞.
    let least = some.replace("fmaxf", "fminf");
    check(&zero_of_some, &least, Refuted);
    check(&least, &zero_of_some, Unknown);
}

/// Infinities that a loop computes with are unsupported, so nothing cancels with them. No run reaches the case.
#[test]
fn infinities_of_loops_are_not_computed_with() {
    let text = |body: &str| line("const float* in, float* out, int K", body);
    let plain = text("out[i] = in[i];");
    let rare = "out[i] = (K > 900 && i == 77) ? z : in[i];";
    let squared = "float l = INFINITY; for (int k = 0; k < K; k++) l = l*l;";
    for z in ["l - l", "0.0f*l", "l/l - 1.0f"] {
        check(&plain, &text(&format!("{squared} float z = in[i] + ({z}); {rare}")), Unknown);
    }
    let infinite = "-INFINITY";
    let lowest = format!("float m = {infinite}, a = 0; for (int k = 0; k < K; k++)");
    for round in [
        "{ a += m - m; m = fmaxf(m, in[i]); }",
        "{ a += 0.0f*m; m = fmaxf(m, in[i]); }",
        "{ float o = m; m = fmaxf(m, in[i]); a = a*expf(o - m) + (o - o); }",
        "{ float o = m; m = fmaxf(m, in[i]); a = a*expf(o - m) + 0.0f*(expf(o - m)*expf(-o)); }",
        "{ float o = m; m = fmaxf(m, in[i]); a = a*expf(o - m) + 0.0f/expf(o - m); }",
        "{ float o = m; m = fmaxf(m, in[i]); a = a*expf(o - m) + 0.0f*logf(expf(o - m)); }",
    ] {
        check(&plain, &text(&format!("{lowest} {round} float z = in[i] + a; {rare}")), Unknown);
    }
    let squared = "float l = INFINITY, a = 0; for (int k = 0; k < K; k++) { a += l - l; l = l*l; }";
    check(&plain, &text(&format!("{squared} float z = in[i] + a; {rare}")), Unknown);
}

/// A value loaded from memory may still be an infinity.
#[test]
fn infinities_in_memory_are_not_computed_with() {
    let plain = "out[i] = in[i];";
    // The difference is NaN.
    let shifted =
        "float v = in[i]; s[t] = -INFINITY; __syncthreads(); float m = s[t]; out[i] = (v - m) + m;";
    check(&block(plain), &block(shifted), Refuted);
    // Two loads of the same value.
    let twice = "float v = in[i]; s[t] = -INFINITY; __syncthreads(); out[i] = (v - s[t]) + s[blockDim.x-1-t];";
    check(&block(plain), &block(twice), Refuted);
    let scaled = "float v = in[i]; s[t] = -INFINITY; __syncthreads(); out[i] = v + 0.0f*s[t];";
    check(&block(plain), &block(scaled), Refuted);
    let numbers = "float v = in[i]; s[t] = 4.0f; __syncthreads(); out[i] = v + s[t] - 4.0f;";
    check(&block(plain), &block(numbers), Proved);
    // A value is unchanged when it is passed on, and when it is the lesser of two.
    let greater = "float v = in[i]; s[t] = -INFINITY; __syncthreads(); out[i] = fmaxf(v, s[t]);";
    check(&block(plain), &block(greater), Proved);
    // The maximum of no values is no number either.
    let greatest = |count: &str, after: &str| {
        format!(
            "float v = in[i], m = -INFINITY; for (int k = 0; k < {count}; k++) m = fmaxf(m, in[k]);\n\
             s[t] = m; __syncthreads(); {after}"
        )
    };
    let some = greatest("t", "float b = s[t]; out[i] = (v - b) + b;");
    check(&block(plain), &block(&some), Refuted);
    let handed = greatest("n", "out[i] = fmaxf(s[t], v);");
    let direct = greatest("n", "out[i] = fmaxf(v, m);");
    check(&block(&direct), &block(&handed), Proved);
}

/// Sums rescaled by a non-number are not sums: `−∞ − −∞` is not 0.
#[test]
fn sums_are_rescaled_by_numbers() {
    let pair = |first: &str, next: &str| {
        let parameters = "const float* in, float* out, int K";
        let scaled = format!(
            "float m = {first}, l = 0; for (int k = 0; k < K; k++) {{ float t = {next}; \
             l = l*expf(m - t) + expf(in[i] - t); m = t; }} out[i] = l*expf(m);"
        );
        let plain = "float l = 0; for (int k = 0; k < K; k++) l += expf(in[i]); out[i] = l;";
        [plain, &scaled].map(|body| {
            line(parameters, body).replace("requires n", "requires K >= 1 && K <= 1000 && n")
        })
    };
    for (first, next) in [("-INFINITY", "fmaxf(m, in[i])"), ("in[0]", "fminf(m, in[i])")] {
        let [plain, scaled] = pair(first, next);
        check(&plain, &scaled, Proved);
    }
    // Equal, too, but a sum in `m` has no form here that both factors share.
    let [plain, scaled] = pair("in[0]", "m + 1.0f");
    check(&plain, &scaled, Unknown);
    for (first, next) in [
        ("-INFINITY", "fminf(m, in[i])"),
        ("INFINITY", "fmaxf(m, in[i])"),
        ("INFINITY", "fminf(m, in[i])"),
        ("-INFINITY", "m + 1.0f"),
    ] {
        let [plain, scaled] = pair(first, next);
        check(&plain, &scaled, Refuted);
        // As the reference this kernel has no number to compare with, so no run refutes. The proof itself must fail.
        check(&scaled, &plain, Unknown);
    }
}

/// An unsupported value is not equal to another one.
#[test]
fn unknowns_differ() {
    let shuffles =
        "out[i] = __shfl_sync(0xffffffff, in[i], 0) - __shfl_sync(0xffffffff, in[i], 1);";
    check(&block(shuffles), &block("out[i] = 0.0f;"), Unknown);
    floats("float v; float w; out[i] = v - w;", "out[i] = 0.0f;", Unknown);
    floats("out[i] = (float)(int)in[i];", "out[i] = in[i];", Refuted);
}

/// Contracts that no launch satisfies prove nothing.
#[test]
fn contradictory_demands_prove_nothing() {
    let one = line("const float* in, float* out", "out[i] = 1.0f;");
    let two = line("const float* in, float* out", "out[i] = 2.0f;");
    let impossible = two.replace("n >= 0", "n > 3 && n < 2");
    check(&one, &impossible, Unknown);
    // Each contract can be satisfied, but not with the same sizes.
    let small = one.replace("n >= 0", "n >= 0 && n < 2");
    let large = two.replace("n >= 0", "n > 3");
    check(&small, &large, Unknown);
}
