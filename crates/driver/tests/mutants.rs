//! One mutant of a third of the small pairs of `corpus/equiv` that are proved: its optimised kernel, changed in one
//! instruction.
//!
//! The mutants that are still proved are known: their change makes no difference, and [`SURVIVORS`] gives the reason.
//! Any other proof is wrong. `examples/mutants.rs` tries many more.

#[path = "../examples/support/mutate.rs"]
mod mutate;
#[path = "../examples/support/pairs.rs"]
mod pairs;

use driver::{Exit, Input};
use mutate::{Change, body, changed, drawn};
use pairs::Pair;

/// Budget of a mutant in thread instructions: its loops may be endless.
const LIMIT: u64 = 500_000;

/// Pairs that take seconds.
const SLOW: [&str; 2] = ["norm/layer_chan", "norm/layer_welford_chan"];

const UNREACHED: &str = "rows are too short for this part of an unrolled loop";

/// Mutants that compute the same: pair, line, reason.
const SURVIVORS: [(&str, usize, &str); 16] = [
    ("activation/silu_fast", 1121, UNREACHED),
    ("bits/both", 432, UNREACHED),
    ("gemm/reversed", 556, UNREACHED),
    ("loss/kl", 1503, "31 lanes store the sum instead of one; each has it"),
    ("norm/layer_welford", 878, UNREACHED),
    ("norm/rms_fast", 2420, UNREACHED),
    ("rope/neighbours", 349, "the same address before and after `cvta.to.global`"),
    ("scatter/rows_one", 487, UNREACHED),
    ("softmax/causal", 5537, UNREACHED),
    ("softmax/scaled", 2749, "only shifts all exponents"),
    (
        "softmax/triton_sm_100",
        75,
        "stands for an element outside the row, which the first 128 are not",
    ),
    ("structure/batch_columns", 1989, UNREACHED),
    ("structure/batch_half", 1619, "set again before the loop, which is entered"),
    ("structure/in_place", 4214, "the zeros above the diagonal are doubled, too"),
    ("tma/triton_row_sums", 35, "set again before the loop, which is entered"),
    ("volta/no_barrier_one", 933, UNREACHED),
];

/// The first change drawn with the seed of the report in `bench`.
fn change(pair: &Pair, text: &str) -> Change {
    let lines = body(text, pair.kernel()).unwrap();
    drawn(text, lines, &mut mutate::random(1, &pair.name)).swap_remove(0)
}

#[test]
fn no_mutant_that_differs_is_proved() {
    let mut pairs = pairs::pairs();
    pairs.retain(|pair| pair.expected == "proved" && !pair.is_large);
    // Products of tensor cores take more instructions than the limit.
    let takes_long = |name: &str| name.starts_with("tensor/") || name.starts_with("hopper/");
    pairs.retain(|pair| !takes_long(&pair.name) && !SLOW.contains(&&*pair.name));
    let (mut refuted, mut survivors) = (0, Vec::new());
    // By name, so that a new pair changes nothing for the others.
    pairs.retain(|pair| mutate::random(0, &pair.name).below(3) == 0);
    for pair in &pairs {
        let text = std::fs::read_to_string(pair.path(1)).unwrap();
        let change = change(pair, &text);
        let mutant = Input::from_bytes("mutant.ptx", changed(&text, &change).into_bytes()).unwrap();
        let exit = pair.ask([&Input::read(&pair.path(0)).unwrap(), &mutant], LIMIT).exit;
        refuted += usize::from(exit == Exit::Refuted);
        if exit == Exit::Success {
            survivors.push((pair.name.clone(), change.line + 1, change.new));
        }
    }
    let known = |(name, line, _): &(String, usize, String)| {
        SURVIVORS.iter().any(|(one, at, _)| one == name && at == line)
    };
    survivors.retain(|survivor| !known(survivor));
    assert!(survivors.is_empty(), "proved, though changed: {survivors:?}");
    assert!(refuted * 4 > pairs.len() * 3, "{refuted} of {} are refuted", pairs.len());
}
