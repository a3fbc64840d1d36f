//! Finds the value that the last store left in an element: tries the groups of candidate stores from the latest to the
//! earliest (`hits.rs` makes the groups).
//!
//! A store *hits* the element under a condition. The stores of one group are unordered (an unrolled loop and its
//! remainder). So at most one of them may hit: their conditions are proved to exclude each other, or the lookup stops
//! with a case split on one of them. The cases of several stores therefore add up instead of multiplying. A condition
//! on the variable of a sum cannot be split; there the value becomes a choice between this store and the earlier ones.
//!
//! Errs towards no answer: what is not proved is left open, with the place of the store.

use super::extremes;
use super::hits::{Group, HitResult};
use super::instance::Instance;
use super::kernel_summary::StoreSite;
use super::resolve::{Moment, Resolver, Unresolved, open, too_large};
use super::value::Value;
use arith::formula::Formula;
use arith::poly::Poly;
use base::Index;
use kir::ArrayId;

/// A store whose `instance` writes the element if `condition` holds.
struct StoreHit {
    site: usize,
    instance: Instance,
    condition: Formula,
}

impl Resolver {
    /// Returns the value of an element from the first of these groups that stores to it, or its initial value.
    pub(super) fn last_store(
        &mut self,
        groups: &[Group],
        (array, index): (ArrayId, &[Poly]),
        moment: &Moment,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let Some((group, earlier)) = groups.split_first() else {
            return self.initial_contents(array, index, moment, known);
        };
        let group = match group {
            Group::Stores(stores) => stores,
            Group::Head(record, count) => {
                return self.value_by_clauses(
                    (*record, Some(count)),
                    (array, index),
                    moment,
                    known,
                    depth,
                );
            }
            Group::Exit(record) => {
                return self.value_by_clauses(
                    (*record, None),
                    (array, index),
                    moment,
                    known,
                    depth,
                );
            }
        };
        let mut hits: Vec<StoreHit> = Vec::new();
        for candidate in group {
            match self.decide_store(*candidate, index, moment, known) {
                HitResult::Missed => {}
                HitResult::Hit(instance, condition) => {
                    hits.push(StoreHit { site: candidate.site, instance, condition });
                }
                HitResult::Undecided => return self.not_decided(candidate.site, moment),
            }
        }
        if hits.len() > 1 {
            hits.retain(|hit| !self.is_excluded(known, &hit.condition));
        }
        // Several stores may hit: split on the first open condition.
        let open = hits.iter().map(|hit| &hit.condition);
        let open = open.filter(|one| **one != Formula::True && !self.is_bound(one));
        if let (2.., Some(condition)) = (hits.len(), open.clone().next()) {
            let first = condition.conjuncts().first();
            return Err(Unresolved::Split(first.unwrap_or(condition).clone()));
        }
        for (number, one) in hits.iter().enumerate() {
            for other in &hits[number + 1..] {
                let with = self.with_fact(known, &one.condition);
                if !self.is_excluded(&with, &other.condition) {
                    return self.not_decided(other.site, moment);
                }
            }
        }
        self.value_of_hits((&hits[..], earlier), (array, index), moment, known, depth)
    }

    /// Stops a lookup because a store neither certainly hits nor certainly misses the element.
    fn not_decided(&self, site: usize, moment: &Moment) -> Result<Value, Unresolved> {
        let side = &self.sides[moment.side];
        let StoreSite { array, span, .. } = &side.sites[site];
        let message = format!(
            "which thread, if any, stores here to the element of `{}` that is {}",
            side.names[array.position()],
            if moment.span.is_some() { "read later" } else { "examined at the end" }
        );
        open(Some(*span), message)
    }

    /// Returns `true` if a condition is proved to be false. The solver gets only the linear formulas, such as
    /// `8*p + 1 == 8*q + 3`: it decides those at once.
    fn is_excluded(&mut self, known: &[Formula], condition: &Formula) -> bool {
        let mut parts = condition.conjuncts().iter();
        if parts.any(|one| self.prover.proves_lightly(known, &one.clone().not())) {
            return true;
        }
        let all = known.iter().chain([condition]).flat_map(Formula::conjuncts);
        let linear: Vec<Formula> = all.filter(|one| is_linear(one)).cloned().collect();
        *condition != Formula::True && self.prover.proves(&linear, &Formula::False)
    }

    /// Returns the value of an element that at most one of these stores hits; if none does, that of `earlier` groups.
    fn value_of_hits(
        &mut self,
        (hits, earlier): (&[StoreHit], &[Group]),
        (array, index): (ArrayId, &[Poly]),
        moment: &Moment,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let Some((StoreHit { site, instance, condition }, others)) = hits.split_first() else {
            return self.last_store(earlier, (array, index), moment, known, depth);
        };
        let value = self.sides[moment.side].sites[*site].value.clone();
        let mut condition = condition.clone();
        if self.proves_before_splitting && condition != Formula::True && !self.is_bound(&condition)
        {
            if self.proves(known, &condition) {
                condition = Formula::True;
            } else if condition.conjuncts().iter().any(|one| self.proves(known, &one.clone().not()))
            {
                return self.value_of_hits((others, earlier), (array, index), moment, known, depth);
            }
        }
        if condition == Formula::True {
            return self.instantiate(&value, instance, moment.side, known, depth + 1);
        }
        if !self.is_bound(&condition) {
            let first = condition.conjuncts().first().cloned();
            return Err(Unresolved::Split(first.unwrap_or(condition)));
        }
        // The condition depends on the variable of a sum: no case split, but a choice inside the sum.
        if self.proves(known, &condition) {
            return self.instantiate(&value, instance, moment.side, known, depth + 1);
        }
        let with = self.with_fact(known, &condition);
        let then = self.instantiate(&value, instance, moment.side, &with, depth + 1)?;
        let otherwise = self.with_fact(known, &condition.clone().not());
        let rest =
            self.value_of_hits((others, earlier), (array, index), moment, &otherwise, depth)?;
        extremes::select(&condition, [&then, &rest]).ok_or_else(too_large)
    }
}

fn is_linear(condition: &Formula) -> bool {
    let mut is_linear = true;
    condition.visit(&mut |poly| {
        is_linear &= poly.terms().all(|(monomial, _)| matches!(monomial[..], [] | [(_, 1)]));
    });
    is_linear
}
