//! Proves goals by refuting their negation: prepares a query for the search through products of assumptions
//! (`arith`).
//!
//! Disjunctive assumptions are left out at first; then one after the other is split, and each of its parts must be
//! refuted. Assumptions with a model, the negated goal among them, are not tried: they have no refutation.

use crate::prover::Prover;
use arith::formula::Formula;
use arith::poly::Poly;
use arith::products::{Effort, Hypotheses, refutation};

/// Limits on the disjunctions to split, and on the parts of one.
const MAX_CHOICES: usize = 3;
const MAX_PARTS: usize = 3;

impl Prover {
    /// Returns `true` if there is a checked refutation of the negated goal together with all facts.
    pub(super) fn by_products(&self, all: &[Formula], goal: &Formula, effort: Effort) -> bool {
        let contrary = goal.clone().not();
        cases(&contrary).is_some_and(|cases| {
            cases.iter().all(|case| {
                let mut known = Hypotheses::default();
                all.iter().for_each(|one| assume(&mut known, one));
                case.iter().for_each(|one| assume(&mut known, one));
                self.is_refuted(&known, effort) || self.is_refuted_by_choices(&known, all, effort)
            })
        })
    }

    fn is_refuted(&self, known: &Hypotheses, effort: Effort) -> bool {
        let opposite = known.equal.iter().filter_map(|one| one.scaled(-1));
        let all: Vec<Poly> =
            known.at_least.iter().chain(&known.equal).cloned().chain(opposite).collect();
        // A failing search costs most: a model shows that it must fail.
        let mut models = self.models.borrow_mut();
        if models.satisfies_quickly(&all, &self.symbols) {
            return false;
        }
        if refutation(known, Effort::LINEAR).is_some() {
            return true;
        }
        if effort == Effort::LINEAR || models.satisfies(&all, &self.symbols) {
            return false;
        }
        refutation(known, Effort::LIGHT).is_some()
            || effort != Effort::LIGHT && refutation(known, effort).is_some()
    }

    fn is_refuted_by_choices(&self, known: &Hypotheses, all: &[Formula], effort: Effort) -> bool {
        let mut choices: Vec<&[Formula]> = all
            .iter()
            .filter_map(|one| match one {
                Formula::Or(parts) if parts.len() <= MAX_PARTS => Some(&parts[..]),
                Formula::Not(_) => Some(std::slice::from_ref(one)),
                _ => None,
            })
            .collect();
        // Most queries depend on two threads being different.
        let differs = |parts: &&[Formula]| parts.iter().all(|one| matches!(one, Formula::Not(_)));
        choices.sort_by_key(|parts| !differs(parts));
        choices.into_iter().take(MAX_CHOICES).any(|parts| {
            let is_refuted_case = |case: &Vec<Formula>| {
                let mut with = known.clone();
                case.iter().for_each(|one| assume(&mut with, one));
                with != *known && self.is_refuted(&with, effort)
            };
            parts
                .iter()
                .all(|part| cases(part).is_some_and(|cases| cases.iter().all(is_refuted_case)))
        })
    }
}

/// The cases of a condition, each a list of conditions that hold together: two if it states that a number is not 0.
/// `None` if there are too many, or numbers become too large.
fn cases(condition: &Formula) -> Option<Vec<Vec<Formula>>> {
    let mut cases = vec![Vec::new()];
    for part in condition.conjuncts() {
        match part {
            Formula::Not(inner) => {
                let Formula::Eq(poly) = &**inner else { continue };
                let [above, below] = [poly.offset(-1)?, poly.scaled(-1)?.offset(-1)?];
                let with = |one: Poly| {
                    let add = move |case: &Vec<Formula>| {
                        case.iter().cloned().chain([Formula::ge(one.clone())]).collect()
                    };
                    cases.iter().map(add).collect::<Vec<Vec<Formula>>>()
                };
                cases = with(above).into_iter().chain(with(below)).collect();
            }
            _ => cases.iter_mut().for_each(|case| case.push(part.clone())),
        }
    }
    (cases.len() <= MAX_PARTS).then_some(cases)
}

/// Adds a condition, if it is an inequality or an equation.
fn assume(known: &mut Hypotheses, condition: &Formula) {
    for part in condition.conjuncts() {
        match part {
            Formula::Ge(poly) => known.add_at_least(poly.clone()),
            Formula::Eq(poly) => known.add_equal(poly.clone()),
            // A power of two is positive.
            Formula::Pow2(poly) => {
                if let Some(positive) = poly.offset(-1) {
                    known.add_at_least(positive);
                }
            }
            Formula::False => known.add_at_least(Poly::constant(-1)),
            Formula::True | Formula::Not(_) | Formula::And(_) | Formula::Or(_) => {}
        }
    }
}
