//! Any bytes as the output of a solver, and, after a byte 0, as a stored answer: a question is answered `unsat` only if
//! one of them has this word as a line.

use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use base::Index;
use smt::{Answer, AnswerStore, RLIMIT, Solver};
use std::io::{Cursor, sink};

/// A store with the same answer to every question.
#[derive(Debug)]
struct Stored(String);

impl AnswerStore for Stored {
    fn look_up(&self, _: &str) -> Option<String> {
        Some(self.0.clone())
    }

    fn store(&self, _: &str, _: &str) {}
}

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (printed, stored) = (&bytes[..end], crate::text(bytes.get(end + 1..).unwrap_or_default()));
    let Some(mut solver) = Solver::over(sink(), Cursor::new(printed.to_vec())) else { return };
    if !stored.is_empty() {
        solver.use_store(Box::new(Stored(stored.to_owned())));
    }
    let symbol = |position| Poly::symbol(Sym::from_position(position));
    let at_least = |least: i128| vec![Formula::ge(symbol(0).offset(-least).expect("no overflow"))];
    let mut answers = Vec::new();
    for (least, limit) in [(1, 1000), (2, RLIMIT), (1, 1000)] {
        answers.push(solver.check(&at_least(least), limit));
    }
    let values = solver.values(&at_least(3), &[symbol(0), symbol(1)], 1000);
    assert!(values.is_none_or(|values| values.len() == 2));
    let _ = (solver.major(), solver.works(), solver.is_dead());
    let says_so = crate::text(printed).lines().any(|line| line == "unsat") || stored == "unsat";
    assert!(says_so || !answers.contains(&Answer::Impossible), "{answers:?}");
}
