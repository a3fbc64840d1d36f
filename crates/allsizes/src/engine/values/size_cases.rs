//! Splits a proof by the values of two sizes whose product is a small number.
//!
//! `32 % blockDim.y == 0` is not polynomial; with the quotient as a symbol it is `32 − q·blockDim.y = 0`. In each of
//! the few cases of `blockDim.y` it is trivial.

use crate::engine::Engine;
use crate::engine::state::State;
use crate::prover::Prover;
use arith::formula::Formula;
use arith::poly::{Monomial, Poly, Sym};
use kir::Kernel;
use smt::Solver;

/// Limit on numbers whose divisors are enumerated.
const MAX_DIVIDED: i128 = 64;

/// Two sizes whose product is a number, each with a value.
pub(super) type Case = [(Sym, i128); 2];

/// The end of a proof attempt in one case.
pub(super) enum Attempt {
    /// These cases have to be distinguished first.
    Cases(Vec<Case>),
    Proved,
    Open,
}

impl Attempt {
    pub(super) fn ended(is_proved: bool) -> Self {
        if is_proved { Self::Proved } else { Self::Open }
    }
}

/// Attempts a proof without a case, then in each case that it asks for, until one remains open.
pub(super) fn in_each_case(
    mut solver: Option<Solver>,
    mut attempt: impl FnMut(Option<Solver>, Option<Case>) -> (Attempt, Option<Solver>),
) -> Option<Solver> {
    let mut waiting = vec![None];
    while let Some(case) = waiting.pop() {
        let (result, back) = attempt(solver, case);
        solver = back;
        match result {
            Attempt::Cases(cases) => waiting.extend(cases.into_iter().rev().map(Some)),
            Attempt::Proved => {}
            Attempt::Open => break,
        }
    }
    solver
}

/// Cases to distinguish, and the solver.
type Split = Box<(Vec<Case>, Option<Solver>)>;

/// Starts a kernel in one case, or returns the cases to distinguish.
pub(super) fn start(
    kernel: &Kernel,
    solver: Option<Solver>,
    infers: bool,
    case: Option<Case>,
) -> Result<(Engine<'_>, State), Split> {
    let mut engine = Engine::new(kernel, Prover::new(solver), infers);
    let mut entry = engine.set_up();
    for (sym, value) in case.into_iter().flatten() {
        engine.replace(sym, &Poly::constant(value), &mut entry);
    }
    match divisors(&mut engine.prover).filter(|_| case.is_none()) {
        Some(cases) => Err(Box::new((cases, engine.prover.solver))),
        None => Ok((engine, entry)),
    }
}

/// Enumerates the values of two sizes whose product is known to be a small number.
pub(super) fn divisors(prover: &mut Prover) -> Option<Vec<Case>> {
    let requires = prover.requires.clone();
    requires.iter().flat_map(Formula::conjuncts).find_map(|part| {
        let Formula::Eq(poly) = part else { return None };
        let terms: Vec<(&Monomial, i128)> = poly.terms().collect();
        let [(one, constant), (product, factor)] = terms[..] else { return None };
        let ([], [(x, 1), (y, 1)], 1) = (&one[..], &product[..], factor.abs()) else { return None };
        let number = (constant * -factor.signum()).checked_abs()?;
        // If a product is positive and one factor is, so is the other.
        let above = Poly::symbol(*x).offset(-1).map(Formula::ge)?;
        let positive = constant.signum() != factor.signum()
            && number <= MAX_DIVIDED
            && prover.proves_quickly(&[], &above);
        let values = (1..=number).filter(|value| number % value == 0);
        positive.then(|| values.map(|value| [(*x, value), (*y, number / value)]).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arith::symbols::Level;
    use std::collections::BTreeSet;

    /// The cases of `factor·x·y + constant == 0`, where `x` and `y` are at least `low`.
    fn cases(low: Option<i128>, factor: i128, constant: i128) -> Option<BTreeSet<[i128; 2]>> {
        let mut prover = Prover::new(None);
        let low = low.map(Poly::constant);
        let x = prover.symbols.bounded("x", Level::Block, low.clone(), None);
        let y = prover.symbols.bounded("y", Level::Block, low, None);
        let product = Poly::symbol(x).times(&Poly::symbol(y)).and_then(|one| one.scaled(factor));
        prover.requires.push(Formula::eq(product.and_then(|one| one.offset(constant)).unwrap()));
        let cases = divisors(&mut prover)?.into_iter();
        let values = cases.map(|[(one, value), (other, rest)]| {
            assert_eq!([one, other], [x, y]);
            [value, rest]
        });
        Some(values.collect())
    }

    #[test]
    fn cases_are_all_divisors() {
        for number in [1, 2, 7, 12, 32, 36, MAX_DIVIDED] {
            let all = (1..=number).flat_map(|one| (1..=number).map(move |other| [one, other]));
            let right: BTreeSet<[i128; 2]> =
                all.filter(|[one, other]| one * other == number).collect();
            assert_eq!(cases(Some(1), 1, -number), Some(right.clone()), "{number}");
            assert_eq!(cases(Some(1), -1, number), Some(right), "{number}");
        }
    }

    #[test]
    fn other_equations_have_no_cases() {
        // A negative product, sizes that may both be negative, twice a product.
        assert_eq!(cases(Some(1), 1, 32), None);
        assert_eq!(cases(Some(1), -1, -32), None);
        assert_eq!(cases(None, 1, -32), None);
        assert_eq!(cases(Some(-64), 1, -32), None);
        assert_eq!(cases(Some(1), 2, -64), None);
        assert_eq!(cases(Some(1), -2, 64), None);
    }
}
