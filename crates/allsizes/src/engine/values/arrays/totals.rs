//! Totals: invariants `\fold(op, k, 0, L, a[k]) == value` at the head of a loop, such as the sum of the elements that a
//! tree has not combined yet.
//!
//! Let `a` have the contents `h` at the head of an iteration and `e` at its end, and let `L` and `M` be the lengths
//! there. The total is an invariant if it holds before the loop, `⊕_{z<M} e[z] = ⊕_{z<L} h[z]` for arbitrary `h`, and the
//! value is the same at both points. In the proof `e[z]` is looked up through the stores of the iteration. What was there
//! at the head is a symbol for each index, which must be shown to be in `[0, L)`: the total says nothing about other
//! elements, so these may be anything, infinite or not initialised. In a sum all `h[z]` with `z < L` are real numbers, by
//! the same induction: whoever uses the value checks that those before the loop are, and each `e[z]` is shown to be one.
//! In a maximum they may be −∞, in a minimum +∞.
//!
//! A total with `L = 1` is the value of element 0. Nothing else is read off it; errs towards no answer.

use super::super::finiteness::Finiteness;
use super::super::instance::Instance;
use super::super::resolve::{Moment, Resolver, Unresolved, open, range, too_large};
use super::super::value::{Atom, Entry, Fold, Piece, Point, Sum, Value};
use super::clause_lookup::CoverAttempt;
use crate::clause::Monoid;
use crate::engine::values::kernel_summary::{ClauseAtPoint, LoopRecord, RecordedClause};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use kir::ArrayId;
use std::collections::BTreeMap;

/// Returns the value of an element, given its index and what is known of it.
type ElementLookup<'e> =
    &'e mut dyn FnMut(&mut Resolver, &[Poly], &[Formula]) -> Result<Value, Unresolved>;

impl Resolver {
    /// Combines the first `length` elements, each given by its index and the conditions under which it is one of them.
    pub(super) fn total(
        &mut self,
        op: &Monoid,
        length: &Poly,
        known: &[Formula],
        element: ElementLookup<'_>,
    ) -> Result<Value, Unresolved> {
        let digit = self.variable();
        let mut inside = known.to_vec();
        inside.extend(range(digit, length).ok_or_else(too_large)?);
        let body = element(self, &[Poly::symbol(digit)], &inside)?;
        if op.name == "+" {
            if !self.is_number(&body, &inside) {
                return open(None, "a sum of possibly infinite values");
            }
            return self.sum_over(digit, length, &body, known);
        }
        let run = Piece::Run(Sum { digit, high: length.clone(), body });
        let fold = Fold { op: op.clone(), unit: None, pieces: vec![run] };
        Ok(Value::atom(Atom::Fold(Box::new(fold))))
    }

    /// Returns the contents of an element at a point, as a symbol of their own.
    pub(super) fn contents_at(
        (side, point): (usize, Point),
        array: ArrayId,
        index: &[Poly],
        digits: &BTreeMap<Sym, Poly>,
        finiteness: Finiteness,
    ) -> Value {
        let around = digits.iter().map(|(digit, value)| (*digit, value.clone())).collect();
        let index = index.to_vec();
        let entry = Entry { side, point, array, index, around, finiteness };
        Value::atom(Atom::Entry(Box::new(entry)))
    }

    /// Returns the point at the head of an iteration.
    pub(super) fn head_of_iteration(record: &LoopRecord) -> Point {
        let mut point = Point { position: record.position.clone(), loops: record.outer.clone() };
        point.loops.push((record.position.len() - 1, record.count));
        point.position.push(0);
        point
    }

    /// Looks an element up in a total. While this total is proved, the element is a symbol.
    pub(super) fn attempt_by_total(
        &mut self,
        (side, record, is_head): (usize, &LoopRecord, bool),
        (clause, at): (&RecordedClause, &ClauseAtPoint),
        index: &[Poly],
        around: &Instance,
        known: &[Formula],
    ) -> Option<CoverAttempt> {
        let [element] = index else { return None };
        let length = self.poly(&at.index, around)?;
        let under_proof = self.total_under_proof.as_ref();
        let is_under_proof =
            under_proof.is_some_and(|one| (one.side, one.number) == (side, clause.number));
        let (goals, value) = if is_head && is_under_proof {
            let inside = length.minus(element)?.offset(-1)?;
            let point = (side, Self::head_of_iteration(record));
            let finiteness = finiteness_of_elements(clause.total.as_ref()?);
            let value = Self::contents_at(point, clause.array, index, &around.digits, finiteness);
            (vec![Formula::ge(element.clone()), Formula::ge(inside)], value)
        } else {
            let single = length.offset(-1)?;
            (vec![Formula::eq(single), Formula::eq(element.clone())], at.value.clone())
        };
        let mut missing = Vec::new();
        for goal in goals {
            if goal == Formula::False {
                return None;
            }
            if !self.proves_quickly(known, &goal) {
                missing.push(goal);
            }
        }
        Some(CoverAttempt { value, instance: around.clone(), missing })
    }

    /// Returns the total at a moment, of the contents at this moment.
    pub(super) fn total_of_elements(
        &mut self,
        op: &Monoid,
        (array, at): (ArrayId, &ClauseAtPoint),
        moment: &Moment,
        known: &[Formula],
    ) -> Result<Value, Unresolved> {
        let length = self.poly(&at.index, &moment.who).ok_or_else(too_large)?;
        self.total(op, &length, known, &mut |resolver, index, known| {
            resolver.element(array, index, moment, known, 0)
        })
    }

    /// Returns the total at a moment, of symbols for the contents at a point.
    pub(super) fn total_of_symbols(
        &mut self,
        op: &Monoid,
        (array, at, point): (ArrayId, &ClauseAtPoint, Point),
        moment: &Moment,
        known: &[Formula],
    ) -> Result<Value, Unresolved> {
        let length = self.poly(&at.index, &moment.who).ok_or_else(too_large)?;
        let digits = moment.who.digits.clone();
        let finiteness = finiteness_of_elements(op);
        self.total(op, &length, known, &mut |_, index, _| {
            let place = (moment.side, point.clone());
            Ok(Self::contents_at(place, array, index, &digits, finiteness))
        })
    }
}

/// The finiteness of the elements of a total.
fn finiteness_of_elements(op: &Monoid) -> Finiteness {
    match op.name.as_str() {
        "+" => Finiteness::Finite,
        "max" => Finiteness::OrMinusInfinity,
        "min" => Finiteness::OrPlusInfinity,
        _ => Finiteness::Unknown,
    }
}
