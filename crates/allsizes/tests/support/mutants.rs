//! Kernels of a folder of the corpus with mutants: each kernel is proved, and no mutant is.

use super::{kernel, solver};
use allsizes::{Answer, Options, Verdict, engine::Property};
use smt::Solver;
use std::path::PathBuf;

/// A change to a file, and its verdict.
struct Mutant {
    verdict: Verdict,
    from: String,
    to: String,
}

fn path(folder: &str) -> PathBuf {
    testing::corpus::root().join("corpus/param").join(folder)
}

fn read(folder: &str, name: &str, extension: &str) -> String {
    let path = path(folder).join(format!("{name}.{extension}"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns `true` if the kernel needs a solver, and the kernel's mutants.
fn expected(folder: &str, name: &str) -> (bool, Vec<Mutant>) {
    let (mut needs_solver, mut mutants) = (false, Vec::new());
    for line in read(folder, name, "expect").lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let text = rest.replace("\\n", "\n");
        let last = mutants.last_mut();
        match (word, last) {
            ("needs-solver:", _) => needs_solver = true,
            ("mutant:", _) => {
                let verdict = match rest {
                    "refuted" => Verdict::Refuted,
                    "unknown" => Verdict::Unknown,
                    _ => panic!("{name}.expect: `{line}`"),
                };
                mutants.push(Mutant { verdict, from: String::new(), to: String::new() });
            }
            ("-", Some(last)) => last.from = text,
            ("+", Some(last)) => last.to = text,
            _ => panic!("{name}.expect: `{line}`"),
        }
    }
    (needs_solver, mutants)
}

pub(crate) fn answer(text: &str, solver: Option<Solver>) -> Answer {
    let options = Options { infers: true, suggests: false };
    let answer = allsizes::prove(&kernel(text), solver, options).0;
    assert!(answer.contradiction.is_none(), "{:?}\n{text}", answer.contradiction);
    answer
}

/// The verdict on all properties together.
pub(crate) fn verdict(answer: &Answer) -> Verdict {
    let all = || answer.properties.iter().map(|one| one.verdict);
    match all().find(|one| *one == Verdict::Refuted) {
        Some(refuted) => refuted,
        None => all().find(|one| *one == Verdict::Unknown).unwrap_or(Verdict::Proved),
    }
}

/// Checks a kernel with claims about a property, and its mutants.
pub(crate) fn check(folder: &str, name: &str, property: Property) {
    let text = read(folder, name, "cu");
    let (needs_solver, mutants) = expected(folder, name);
    assert!(mutants.len() >= 4, "{name} has too few mutants");
    let plain = answer(&text, None);
    let wanted = if needs_solver { Verdict::Unknown } else { Verdict::Proved };
    assert_eq!(verdict(&plain), wanted, "without a solver: {:?}", plain.properties);
    assert!(plain.properties.iter().any(|one| one.property == property));
    assert!(plain.tested >= 4, "tested on {} launches", plain.tested);
    if let Some(solver) = solver() {
        let answer = answer(&text, Some(solver));
        assert_eq!(verdict(&answer), Verdict::Proved, "with a solver: {:?}", answer.properties);
    }
    for Mutant { verdict: wanted, from, to } in &mutants {
        assert_eq!(text.matches(from.as_str()).count(), 1, "{name}: `{from}`");
        let changed = text.replace(from.as_str(), to);
        let answer = answer(&changed, solver());
        let found = verdict(&answer);
        // Some launches that show a mistake come from z3.
        let open = needs_solver && solver().is_none() && found == Verdict::Unknown;
        assert!(
            open || found == *wanted,
            "{name}: `{from}` -> `{to}`: {found:?}, {:?}",
            answer.properties
        );
    }
}

/// Asserts that none of these wrong kernels is proved, with a solver or without. Each comes with its fault.
pub(crate) fn none_is_proved(wrong: &[(&str, &str)]) {
    for (what, text) in wrong {
        for solver in [None, solver()] {
            assert_ne!(verdict(&answer(text, solver)), Verdict::Proved, "{what}");
        }
    }
}

/// The names of the kernels in a folder.
pub(crate) fn names(folder: &str) -> Vec<String> {
    testing::corpus::names_in(path(folder), "cu")
}
