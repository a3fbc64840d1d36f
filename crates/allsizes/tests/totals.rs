//! Totals as loop invariants: trees that combine a range of elements, of any length, until one is left.

mod support;

use allsizes::Verdict;
use allsizes::engine::Property;
use support::mutants::{answer, verdict};
use support::solver;

const SUM: &str = "//@ extent in[gridDim.x*m], out[gridDim.x], s[blockDim.x];
//@ requires m >= 1 && m + blockDim.x <= 2147483647 && gridDim.x*m <= 2147483647;
//@ requires blockDim.y == 1 && blockDim.z == 1 && gridDim.y == 1 && gridDim.z == 1;
//@ ensures \\forall int i; 0 <= i < gridDim.x ==> out[i] == \\sum(k, 0, m, in[i*m + k]);
__global__ void f(const float* in, float* out, int m) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  float acc = 0.0f;
  for (int k = t; k < m; k += blockDim.x) acc += in[blockIdx.x*m + k];
  s[t] = acc;
  __syncthreads();
  for (int d = blockDim.x; d > 1; d = (d + 1)/2) {
    int half = (d + 1)/2;
    if (t + half < d) s[t] = s[t] + s[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}";

fn maximum() -> String {
    let text = SUM.replace("\\sum(k, ", "\\fold(max, k, ").replace("acc = 0.0f", "acc = -INFINITY");
    let text =
        text.replace("acc += in[blockIdx.x*m + k]", "acc = fmaxf(acc, in[blockIdx.x*m + k])");
    text.replace("s[t] + s[t + half]", "fmaxf(s[t], s[t + half])")
}

fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

#[test]
fn trees_of_any_size_are_proved() {
    let Some(_) = solver() else { return };
    let floor = SUM.replace("(d + 1)/2", "d - d/2");
    let quarter =
        SUM.replace("(d + 1)/2", "(d + 3)/4").replace("(t + half", "(t < half && t + half");
    let quarter = quarter.replace(
        "s[t] = s[t] + s[t + half];",
        "{ float v = s[t] + s[t + half]; if (t + 2*half < d) v += s[t + 2*half]; \
         if (t + 3*half < d) v += s[t + 3*half]; s[t] = v; }",
    );
    let written = changed(
        SUM,
        "  for (int d = blockDim.x",
        "  //@ loop invariant \\sum(i, 0, d, s[i]) == \\sum(i, 0, blockDim.x, \\at(s[i], LoopEntry));
           for (int d = blockDim.x",
    );
    for text in [SUM.to_owned(), maximum(), floor, written, quarter] {
        let answer = answer(&text, solver());
        assert_eq!(verdict(&answer), Verdict::Proved, "{text}{:?}", answer.properties);
    }
}

#[test]
fn wrong_trees_are_not_proved() {
    let maximum = maximum();
    let wrong = [
        // Odd lengths lose an element; one is counted twice; the last is never added; the tree ends early.
        SUM.replace("(d + 1)/2", "d/2"),
        changed(SUM, "int half = (d + 1)/2", "int half = d/2"),
        changed(SUM, "d = (d + 1)/2)", "d = d/2)"),
        changed(SUM, "t + half < d", "t + half < d - 1"),
        changed(SUM, "t + half < d", "t + half <= d"),
        changed(SUM, "t + half < d", "t < half"),
        changed(SUM, "d > 1;", "d > 2;"),
        changed(SUM, "int d = blockDim.x;", "int d = blockDim.x - 1;"),
        changed(SUM, "int d = blockDim.x;", "int d = (blockDim.x + 1)/2;"),
        // Other operations; another element at the end.
        changed(SUM, "s[t] + s[t + half]", "s[t] - s[t + half]"),
        changed(SUM, "s[t] + s[t + half]", "2.0f*s[t] + s[t + half]"),
        changed(SUM, "s[t] + s[t + half]", "fmaxf(s[t], s[t + half])"),
        changed(SUM, "s[t] + s[t + half]", "s[t] + s[t + half] + 1.0f"),
        changed(SUM, "out[blockIdx.x] = s[0]", "out[blockIdx.x] = s[blockDim.x/2]"),
        // Races.
        changed(SUM, "half];\n    __syncthreads();", "half];"),
        changed(SUM, "acc;\n  __syncthreads();", "acc;"),
        // No elements: a sum of none is 0, but a maximum of none is no number.
        changed(&maximum, "m >= 1", "m >= 0").replace("= s[0]", "= s[0] - s[0]"),
        changed(&maximum, "fmaxf(s[t], s[t + half])", "fmaxf(s[t], s[t + half]) + 0.0f*s[t]"),
        changed(&maximum, "fmaxf(s[t], s[t + half])", "fminf(s[t], s[t + half])"),
        changed(&maximum, "fmaxf(s[t], s[t + half])", "s[t] + s[t + half]"),
        // A wrong invariant.
        changed(
            SUM,
            "  for (int d = blockDim.x",
            "  //@ loop invariant \\sum(i, 0, d, s[i]) == \\sum(i, 0, blockDim.x - 1, \\at(s[i], LoopEntry));
               for (int d = blockDim.x",
        ),
    ];
    for text in wrong {
        for solver in [None, solver()] {
            let answer = answer(&text, solver);
            assert_ne!(verdict(&answer), Verdict::Proved, "{text}");
        }
    }
}

#[test]
fn infinities_before_the_loop_are_not_multiplied() {
    let Some(_) = solver() else { return };
    // Threads without elements hold −∞, and 0·−∞ is no number. The second tree needs no total.
    let text = maximum();
    let halving = text.replace("blockDim.z == 1 &&", "blockDim.z == 1 && \\is_pow2(blockDim.x) &&");
    let halving = halving
        .replace("int d = blockDim.x; d > 1; d = (d + 1)/2", "int d = blockDim.x/2; d > 0; d /= 2");
    let halving =
        halving.replace("int half = (d + 1)/2", "int half = d").replace("t + half < d", "t < d");
    assert_eq!(verdict(&answer(&halving, solver())), Verdict::Proved, "{halving}");
    for zero in ["0.0f*s[t]", "0.0f*s[t + half]"] {
        let sum = format!("fmaxf(s[t], s[t + half]) + {zero}");
        for text in [&text, &halving] {
            let text = changed(text, "fmaxf(s[t], s[t + half])", &sum);
            assert_ne!(verdict(&answer(&text, solver())), Verdict::Proved, "{text}");
        }
    }
}

/// Sums of clauses are exact, those of the machine wrap around: two elements of 128 are 0 after the first step.
#[test]
fn stated_sums_of_integers_are_exact() {
    let Some(_) = solver() else { return };
    let text = "//@ extent out[1], s[blockDim.x];
//@ requires gridDim.x == 1;
__global__ void f(float* out) {
  extern __shared__ unsigned char s[];
  int t = threadIdx.x;
  s[t] = 128;
  __syncthreads();
  //@ loop invariant CLAIM;
  for (int d = blockDim.x; d > 1; d = (d + 1)/2) {
    int half = (d + 1)/2;
    if (t + half < d) s[t] = s[t] + s[t + half];
    __syncthreads();
  }
  if (t == 0) out[0] = s[0];
}";
    for claim in [
        "\\sum(i, 0, d, s[i]) == 128*blockDim.x",
        "\\sum(i, 0, d, (int)s[i]) == \\sum(i, 0, blockDim.x, \\at((int)s[i], LoopEntry))",
    ] {
        let answer = answer(&text.replace("CLAIM", claim), solver());
        let mut properties = answer.properties.iter();
        let found = properties.find(|one| one.property == Property::Invariant);
        let found = found.expect("an invariant");
        assert_ne!(found.verdict, Verdict::Proved, "{claim}");
    }
}
