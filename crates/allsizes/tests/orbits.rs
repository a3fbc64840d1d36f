//! Buffers that take turns: the number of the current one repeats with a fixed period, however the kernel computes
//! it.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use support::{kernel, solver};

const OPTIONS: Options = Options { infers: true, suggests: false };

/// The verdicts on races, bounds and the contract.
fn verdicts(text: &str) -> [Verdict; 3] {
    let (answer, _) = allsizes::prove(&kernel(text), solver(), OPTIONS);
    assert!(answer.contradiction.is_none(), "{text}{:?}", answer.contradiction);
    [Property::Races, Property::Bounds, Property::Postcondition].map(|property| {
        let own = answer.properties.iter().find(|one| one.property == property);
        own.unwrap_or_else(|| panic!("{text}")).verdict
    })
}

/// Sums up an array by tiles, which go to several buffers in turn. There is one barrier for each tile.
fn tiled(buffers: usize, first: &str, next: &str) -> String {
    format!(
        "//@ symbolic T;
         #define T 4
         //@ extent in[n], out[T];
         //@ requires n >= 1 && n % T == 0 && n + T <= 2147483647 && blockDim.x == T && gridDim.x == 1;
         //@ ensures \\forall int t; 0 <= t < T ==> out[t] == \\sum(k, 0, n, in[k]);
         __global__ void k(const float *in, float *out, int n) {{
           __shared__ float tile[{buffers}][T];
           int t = threadIdx.x;
           float acc = 0.0f;
           {first}
           for (int at = 0; at < n; at += T) {{
             tile[p][t] = in[at + t];
             __syncthreads();
             for (int k = 0; k < T; k++) acc += tile[p][k];
             {next}
           }}
           out[t] = acc;
         }}"
    )
}

fn are_proved(text: &str) {
    if solver().is_some() {
        assert_eq!(verdicts(text), [Verdict::Proved; 3], "{text}");
    }
}

#[test]
fn two_buffers() {
    are_proved(&tiled(2, "int p = 0;", "p = 1 - p;"));
    are_proved(&tiled(2, "int p = 0;", "if (p != 0) p = 0; else p = 1;"));
    are_proved(&tiled(2, "int p = 0;", "p = p == 0 ? 1 : 0;"));
    are_proved(&tiled(2, "int p = 0;", "p = p ? 0 : 1;"));
}

#[test]
fn by_one_bit() {
    if solver().is_some() {
        for first in ["int p = 1;", "int p = 0;"] {
            let [races, bounds, _] = verdicts(&tiled(2, first, "p ^= 1;"));
            assert_eq!([races, bounds], [Verdict::Proved; 2], "{first}");
        }
    }
}

#[test]
fn more_buffers() {
    are_proved(&tiled(3, "int p = 0;", "p = (p + 1) % 3;"));
    are_proved(&tiled(5, "int p = 4;", "p = (p + 3) % 5;"));
    // A step of two buffers at a time.
    are_proved(&tiled(5, "int p = 0;", "p = (p + 2) % 6;"));
}

#[test]
fn numbers_that_change_together() {
    are_proved(&tiled(2, "int p = 0, q = 1;", "int old = p; p = q; q = old;"));
}

#[test]
fn a_cycle_of_one_is_a_race() {
    for next in ["", "p = (p + 2) % 2;", "p ^= 2; p ^= 2;"] {
        let [races, ..] = verdicts(&tiled(2, "int p = 0;", next));
        assert_eq!(races, Verdict::Refuted, "{next}");
    }
    // The number stays the same after the first iteration, and only then alternates.
    let late = "p = at == 0 ? p : 1 - p;";
    assert_eq!(verdicts(&tiled(2, "int p = 0;", late))[0], Verdict::Refuted);
}

#[test]
fn a_cycle_beyond_the_buffers() {
    for (buffers, next) in
        [(2, "p = (p + 1) % 3;"), (2, "p = 2 - p;"), (1, "p ^= 1;"), (2, "p = p == 0 ? 2 : 0;")]
    {
        let first = if next.contains("= 2 - p") || next.contains("? 2") {
            "int p = 0;"
        } else {
            "int p = 1;"
        };
        let first = if buffers == 1 { "int p = 0;" } else { first };
        let [_, bounds, _] = verdicts(&tiled(buffers, first, next));
        assert_eq!(bounds, Verdict::Refuted, "{next}");
    }
}

#[test]
fn a_number_that_depends_on_data_has_no_cycle() {
    let next = "p = in[at] > 0.0f ? p : 1 - p;";
    assert_ne!(verdicts(&tiled(2, "int p = 0;", next))[0], Verdict::Proved);
}
