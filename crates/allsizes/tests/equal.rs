//! Pairs of kernels in `corpus/param/equal`: each is proved equal for every size, and no mutant is. Checks that need
//! a solver run only if there is one.

mod support;

use allsizes::{Options, PairAnswer, Verdict};
use kir::Kernel;
use smt::Solver;
use std::path::PathBuf;
use support::{kernel, solver};
use testing::corpus::names_in;

/// One test per pair, so that they run side by side.
macro_rules! pairs {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

pairs! {
    attention matmul matmul_ragged norm reduce reduce_rows reduce_strided reverse softmax softmax_blocks stencil tiles transpose vector_add
}

/// A change to one of the two files.
struct Mutant {
    verdict: Verdict,
    side: usize,
    from: String,
    to: String,
}

/// The contents of a `.expect` file.
#[derive(Default)]
struct Expected {
    files: Vec<String>,
    needs_solver: bool,
    mutants: Vec<Mutant>,
}

fn folder() -> PathBuf {
    testing::corpus::root().join("corpus/param/equal")
}

fn read(name: &str, extension: &str) -> String {
    let path = folder().join(format!("{name}.{extension}"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn expected(name: &str) -> Expected {
    let mut expected = Expected::default();
    for line in read(name, "expect").lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let text = rest.replace("\\n", "\n");
        match word {
            "pair:" => expected.files = rest.split_whitespace().map(str::to_owned).collect(),
            "needs-solver:" => expected.needs_solver = true,
            "mutant:" => {
                let (verdict, side) = rest.split_once(' ').expect("a verdict and a side");
                let verdict = match verdict {
                    "refuted" => Verdict::Refuted,
                    "unknown" => Verdict::Unknown,
                    _ => panic!("{name}.expect: `{line}`"),
                };
                let side = side.parse::<usize>().expect("1 or 2") - 1;
                let (from, to) = (String::new(), String::new());
                expected.mutants.push(Mutant { verdict, side, from, to });
            }
            "-" => expected.mutants.last_mut().expect("a mutant").from = text,
            "+" => expected.mutants.last_mut().expect("a mutant").to = text,
            _ => panic!("{name}.expect: `{line}`"),
        }
    }
    expected
}

fn compare(texts: &[String], solver: Option<Solver>) -> PairAnswer {
    let kernels: Vec<Kernel> = texts.iter().map(|text| kernel(text)).collect();
    let options = Options { infers: true, suggests: false };
    let compared =
        allsizes::compare([&kernels[0], &kernels[1]], solver, options).expect("a pair").0;
    assert!(!compared.contradiction, "{:?}", compared.difference);
    for answer in &compared.answers {
        assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    }
    compared
}

fn check(pair: &str) {
    let expected = expected(pair);
    let texts: Vec<String> = expected.files.iter().map(|file| read(file, "cu")).collect();
    let compared = compare(&texts, None);
    let wanted = if expected.needs_solver { Verdict::Unknown } else { Verdict::Proved };
    assert_eq!(compared.verdict, wanted, "without a solver: {:?}", compared.open);
    assert!(compared.tested >= 4, "tested on {} pairs", compared.tested);
    assert!(expected.mutants.len() >= 4, "{pair} has too few mutants");
    for Mutant { verdict, side, from, to } in &expected.mutants {
        assert_eq!(texts[*side].matches(from.as_str()).count(), 1, "`{from}`");
        let mut changed = texts.clone();
        changed[*side] = texts[*side].replace(from.as_str(), to);
        let answer = compare(&changed, None);
        assert_eq!(answer.verdict, *verdict, "`{from}` -> `{to}`: {:?}", answer.open);
    }
    let Some(solver) = solver() else { return };
    let compared = compare(&texts, Some(solver));
    assert_eq!(compared.verdict, Verdict::Proved, "with a solver: {:?}", compared.open);
    // Mutants that runs leave open must not be proved with a solver either. Where only a solver proves anything, this
    // includes mutants that runs refute.
    let asked = |one: &&Mutant| expected.needs_solver || one.verdict == Verdict::Unknown;
    for Mutant { verdict, side, from, to } in expected.mutants.iter().filter(asked) {
        let mut changed = texts.clone();
        changed[*side] = texts[*side].replace(from.as_str(), to);
        let answer = compare(&changed, self::solver());
        assert_eq!(answer.verdict, *verdict, "`{from}` -> `{to}`");
        assert!(!answer.open.is_empty());
    }
}

#[test]
fn every_pair_is_tested() {
    let found = names_in(folder(), "expect");
    assert_eq!(found, NAMES);
    let used: Vec<String> = found.iter().flat_map(|name| expected(name).files).collect();
    for name in names_in(folder(), "cu") {
        assert!(used.contains(&name), "{name} belongs to no pair");
    }
}
