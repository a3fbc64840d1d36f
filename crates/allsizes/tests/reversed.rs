//! Stores whose blocks or iterations go backwards: the store to an element is found by counting them from the end.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use support::{kernel, solver};

const OPTIONS: Options = Options { infers: true, suggests: false };

fn postcondition(text: &str) -> Option<Verdict> {
    let (answer, _) = allsizes::prove(&kernel(text), solver(), OPTIONS);
    assert!(answer.contradiction.is_none(), "{text}{:?}", answer.contradiction);
    let own = answer.properties.iter().find(|one| one.property == Property::Postcondition)?;
    Some(own.verdict)
}

/// Folds of the ends of rows, from the last row and the last element on.
fn suffixes(row: &str, from: &str) -> String {
    format!(
        "//@ extent in[rows*n], out[rows*n];
         //@ requires rows >= 1 && n >= 0 && rows*n <= 2147483647 && gridDim.x*blockDim.x == rows;
         //@ ensures \\forall int r, j; 0 <= r < rows && 0 <= j < n ==> out[r*n + j] == \\fold(max, k, {from}, n, in[r*n + k]);
         __global__ void k(const float *in, float *out, int rows, int n) {{
           int r = {row};
           float acc = -INFINITY;
           for (int q = 0; q < n; q++) {{
             int j = n - 1 - q;
             acc = fmaxf(acc, in[r*n + j]);
             out[r*n + j] = acc;
           }}
         }}"
    )
}

const REVERSED: &str = "(gridDim.x - 1 - blockIdx.x)*blockDim.x + threadIdx.x";

#[test]
fn blocks_and_iterations_go_backwards() {
    if solver().is_some() {
        assert_eq!(postcondition(&suffixes(REVERSED, "j")), Some(Verdict::Proved));
        let threads = "blockIdx.x*blockDim.x + (blockDim.x - 1 - threadIdx.x)";
        assert_eq!(postcondition(&suffixes(threads, "j")), Some(Verdict::Proved));
    }
    assert_eq!(postcondition(&suffixes(REVERSED, "0")), Some(Verdict::Refuted));
}
