//! False claims about arrays, and claims that are true only for reasons the engine must not use: none of them is
//! proved.

mod support;

use allsizes::{Options, Verdict, engine::Property};
use support::{kernel, solver};

/// A kernel of one block with an array in shared memory.
fn text(contract: &str, body: &str) -> String {
    format!(
        "//@ extent x[blockDim.x], in[blockDim.x], out[blockDim.x];\n\
         //@ requires gridDim.x == 1 && n >= 0;\n{contract}\n\
         __global__ void k(const unsigned* in, unsigned* out, unsigned n) {{\n\
         extern __shared__ unsigned x[];\nunsigned t = threadIdx.x;\n{body}\n}}\n"
    )
}

const PREFIX: &str =
    r"//@ ensures \forall int i; 0 <= i < blockDim.x ==> out[i] == \fold(+, j, 0, i+1, in[j]);";

fn verdicts(text: &str) -> Option<Vec<(Property, Verdict)>> {
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(text), Some(solver()?), options);
    assert!(answer.contradiction.is_none(), "{text}{:?}", answer.contradiction);
    Some(answer.properties.iter().map(|one| (one.property, one.verdict)).collect())
}

fn never(contract: &str, body: &str) {
    let text = text(contract, body);
    let Some(found) = verdicts(&text) else { return };
    assert!(found.iter().any(|(_, verdict)| *verdict != Verdict::Proved), "{text}{found:?}");
}

const STEP: &str = "for (unsigned off = 1; off < blockDim.x; off *= 2) {
  unsigned v = 0; if (t >= off) v = x[t-off]; __syncthreads(); if (t >= off) x[t] = v + x[t]; __syncthreads(); }";

#[test]
fn loops_that_may_not_be_reached() {
    never(
        PREFIX,
        &format!("x[t] = in[t]; __syncthreads(); if (n > 3) {{ {STEP} }} out[t] = x[t];"),
    );
    let same = format!("x[t] = in[t]; __syncthreads(); {STEP} out[t] = x[t];");
    let Some(found) = verdicts(&text(PREFIX, &same)) else { return };
    assert!(found.iter().all(|(_, verdict)| *verdict == Verdict::Proved), "{found:?}");
}

#[test]
fn unstored_cells() {
    never(PREFIX, &format!("if (t > 0) x[t] = in[t]; __syncthreads(); {STEP} out[t] = x[t];"));
    never(PREFIX, &format!("__syncthreads(); {STEP} out[t] = x[t];"));
}

#[test]
fn stores_behind_the_loop_and_before_it() {
    never(
        PREFIX,
        &format!(
            "x[t] = in[t]; __syncthreads(); {STEP} if (t == 0) x[0] = 7; __syncthreads(); out[t] = x[t];"
        ),
    );
    never(
        PREFIX,
        &format!("x[t] = in[t]; if (t == 1) x[1] = 0; __syncthreads(); {STEP} out[t] = x[t];"),
    );
}

#[test]
fn loops_that_end_early_or_never_begin() {
    let short = STEP.replace("off < blockDim.x", "off < n");
    never(PREFIX, &format!("x[t] = in[t]; __syncthreads(); {short} out[t] = x[t];"));
    let late = STEP.replace("off = 1", "off = 2");
    never(PREFIX, &format!("x[t] = in[t]; __syncthreads(); {late} out[t] = x[t];"));
}

/// A clause that holds only if it is assumed itself, and a clause that is false before the loop.
#[test]
fn clauses_must_begin_and_go_on() {
    let invariant = |claim: &str| {
        format!("//@ loop invariant \\forall int i; 0 <= i < blockDim.x ==> x[i] == {claim};\n")
    };
    let kept = "for (unsigned k = 0; k < n; k++) { __syncthreads(); }";
    for claim in ["7", "in[i] + 1", r"\fold(+, j, 0, i+1, in[j])"] {
        never(
            "",
            &format!("x[t] = in[t]; __syncthreads();\n{}{kept} out[t] = x[t];", invariant(claim)),
        );
    }
    let grows = "for (unsigned k = 0; k < n; k++) { __syncthreads(); x[t] = x[t] + 1; }";
    never(
        "",
        &format!("x[t] = in[t]; __syncthreads();\n{}{grows} out[t] = x[t];", invariant("in[i]")),
    );
    let known =
        format!("x[t] = in[t]; __syncthreads();\n{}{kept} out[t] = x[t];", invariant("in[i]"));
    let copy = r"//@ ensures \forall int i; 0 <= i < blockDim.x ==> out[i] == in[i];";
    let Some(found) = verdicts(&text(copy, &known)) else { return };
    assert!(found.iter().all(|(_, verdict)| *verdict == Verdict::Proved), "{found:?}");
}

/// A claim about one thread's value is not one about the block, and a claim about one block is not one about all
/// blocks.
#[test]
fn clauses_are_of_a_whole_block() {
    let own = "//@ loop invariant \\forall int i; 0 <= i < blockDim.x ==> x[i] == in[i] + t;\n";
    never(
        "",
        &format!(
            "x[t] = in[t]; __syncthreads();\n{own}for (unsigned k = 0; k < n; k++) {{ __syncthreads(); }} out[t] = x[t];"
        ),
    );
    let blocks = "//@ extent in[gridDim.x*blockDim.x], out[gridDim.x*blockDim.x];
        //@ requires gridDim.x*blockDim.x <= 2147483647;
        //@ ensures \\forall int i; 0 <= i < gridDim.x*blockDim.x ==> out[i] == in[i];
        __global__ void k(const unsigned* in, unsigned* out) {
          unsigned i = blockIdx.x*blockDim.x + threadIdx.x;
          out[i] = in[i];
          //@ loop invariant \\forall int j; 0 <= j < gridDim.x*blockDim.x ==> out[j] == in[j];
          for (unsigned k = 0; k < blockIdx.x; k++) { __syncthreads(); out[i] = in[i] + k; }
        }";
    let Some(found) = verdicts(blocks) else { return };
    assert!(found.iter().any(|(_, verdict)| *verdict != Verdict::Proved), "{found:?}");
}

/// Sums of elements without bounds, or with bounds elsewhere, locate no element.
#[test]
fn sums_need_their_bounds() {
    let compact = |bounds: &str, index: &str| {
        format!(
            "//@ extent data[n], out[n], flag[n], idx[n];\n//@ requires n == gridDim.x*blockDim.x && n <= 2147483647;\n\
             //@ requires \\forall int i; {bounds} <= 1;\n\
             //@ requires \\forall int i; 0 <= i < n ==> idx[i] == {index};\n\
             __global__ void k(const int* data, int* out, const unsigned* flag, const unsigned* idx, unsigned n) {{\n\
             unsigned t = blockIdx.x*blockDim.x + threadIdx.x;\nif (flag[t]) out[idx[t]] = data[t];\n}}\n"
        )
    };
    let own = r"\fold(+, j, 0, i, flag[j])";
    let good = "0 <= i < n ==> 0 <= flag[i]";
    let Some(found) = verdicts(&compact(good, own)) else { return };
    assert!(found.iter().all(|(_, verdict)| *verdict == Verdict::Proved), "{found:?}");
    let wrong = [
        ("0 <= i < n - 2 ==> 0 <= flag[i]", own),
        ("1 <= i < n ==> 0 <= flag[i]", own),
        ("0 <= i < n && i != 2 ==> 0 <= flag[i]", own),
        (good, r"\fold(+, j, 1, i, flag[j])"),
        (good, r"\fold(+, j, 0, i - 1, flag[j])"),
        (good, r"\fold(max, j, 0, i, flag[j])"),
        (good, r"\fold(+, j, 0, i, flag[j]) / 2"),
    ];
    for (bounds, index) in wrong {
        let text = compact(bounds, index);
        let Some(found) = verdicts(&text) else { return };
        assert!(found.iter().any(|(_, verdict)| *verdict != Verdict::Proved), "{text}{found:?}");
    }
}

/// A postcondition: `out[i]` is `in[i]` followed by `more`.
fn copies(more: &str) -> String {
    format!(r"//@ ensures \forall int i; 0 <= i < blockDim.x ==> out[i] == in[i]{more};")
}

/// A body that adds 1 to each element `n` times, with an invariant.
fn counted(first: &str, invariant: &str) -> String {
    format!(
        "{first} __syncthreads();\n\
         //@ loop invariant \\forall int i; 0 <= i < blockDim.x ==> x[i] == {invariant};\n\
         for (unsigned k = 0; k < n; k++) {{ x[t] += 1; __syncthreads(); }}\nout[t] = x[t];"
    )
}

#[test]
fn contents_before_the_loop() {
    let own = counted("x[t] = in[t];", r"\at(x[i], LoopEntry) + k");
    let Some(found) = verdicts(&text(&copies(" + n"), &own)) else { return };
    assert!(found.iter().all(|(_, verdict)| *verdict == Verdict::Proved), "{found:?}");
    never(&copies(""), &own);
    // Not the present value, nor another thread's, nor that of an element without a store.
    never(&copies(""), &counted("x[t] = in[t];", r"\at(x[i], LoopEntry)"));
    let other = r"\at(x[blockDim.x - 1 - i], LoopEntry) + k";
    never(&copies(" + n"), &counted("x[t] = in[t];", other));
    never(&copies(" + n"), &counted("if (t > 0) x[t] = in[t];", r"\at(x[i], LoopEntry) + k"));
    never(&copies(" + n"), &counted("x[t] = in[0];", r"\at(x[i], LoopEntry) + k"));
}

#[test]
fn each_iteration_around_has_its_own_before() {
    let nested = |first: &str| {
        format!(
            "x[t] = in[t]; __syncthreads();\nfor (unsigned r = 0; r < 2; r++) {{ {first} __syncthreads();\n\
             //@ loop invariant \\forall int i; 0 <= i < blockDim.x ==> x[i] == \\at(x[i], LoopEntry) + k;\n\
             for (unsigned k = 0; k < n; k++) {{ x[t] += 1; __syncthreads(); }}\nout[t] = x[t]; }}"
        )
    };
    let Some(found) = verdicts(&text(&copies(" + n"), &nested("x[t] = in[t];"))) else { return };
    assert!(found.iter().all(|(_, verdict)| *verdict == Verdict::Proved), "{found:?}");
    never(&copies(" + n"), &nested("x[t] = in[t] + r;"));
    never(&copies(" + n"), &nested("if (r == 0) x[t] = in[t];"));
    never(&copies(" + n"), &nested("__syncthreads();"));
}
