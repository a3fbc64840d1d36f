//! Formulas in place of the reference kernels of `corpus/equiv`: no answer is wrong, and most are the same as with
//! the kernels.
//!
//! A formula is the mathematical definition of a reference's result. The optimised kernels of its pairs are proved,
//! or refuted, against it as against the kernel. `WARPPROOF_FULL` takes all pairs, CI a tenth.

#[path = "../corpus/mod.rs"]
mod corpus;
mod mutants;
#[path = "../../examples/support/pairs.rs"]
mod pairs;
mod words;

use driver::{Exit, Input};
use pairs::Pair;
use std::sync::Mutex;

/// Shares of the pairs that are settled, in percent.
const PROVED: usize = 88;
const REFUTED: usize = 88;

fn small_pairs() -> impl Iterator<Item = Pair> {
    pairs::pairs().into_iter().filter(|pair| !pair.is_large && pair.formula().is_some())
}

fn read(pair: &Pair) -> Input {
    let path = pair.formula().unwrap();
    Input::of_formula(&format!("@{}", path.display())).unwrap()
}

#[test]
fn formulas_get_the_answers_of_their_kernels() {
    let pairs = small_pairs().enumerate().filter(|(position, _)| corpus::is_sampled(*position));
    let pairs: Vec<Pair> = pairs.map(|(_, pair)| pair).collect();
    assert!(pairs.len() > 60, "{}", pairs.len());
    let settled = Mutex::new([0, 0]);
    let wrong = pairs::for_all(&pairs, |pair| {
        let outcome = pair.ask_formula(&read(pair));
        let text = outcome.output + &outcome.messages;
        match (pair.expected.as_str(), outcome.exit) {
            ("proved", Exit::Success) => settled.lock().unwrap()[0] += 1,
            ("refuted", Exit::Refuted) => settled.lock().unwrap()[1] += 1,
            (_, Exit::Unknown) => {}
            // A pair with float atomics in any order has no other fault to find here.
            ("refuted", Exit::Success) if pair.kind == "race" && text.contains("order") => {}
            (expected, exit) => {
                return Err(format!("{}: {expected}, not {exit:?}\n{text}", pair.name));
            }
        }
        Ok(())
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let settled = settled.into_inner().unwrap();
    for ((expected, least), settled) in
        [("proved", PROVED), ("refuted", REFUTED)].into_iter().zip(settled)
    {
        let all = pairs.iter().filter(|pair| pair.expected == expected).count();
        assert!(settled * 100 >= least * all, "{settled} of {all} are {expected}");
    }
}
