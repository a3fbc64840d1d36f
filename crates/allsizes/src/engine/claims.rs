//! Claims of annotations about elements and real numbers, as far as the engine itself handles them: footprints of
//! accesses are obligations here, all other claims are proved in `values/`. A claim that is not proved there is left
//! open, with its line.

use super::state::{State, SymbolicValue};
use super::{Engine, Property, state};
use arith::formula::Formula;
use arith::poly::Poly;
use base::Span;
use interp::AccessKind;
use kir::{Claim, Element, Kernel, Loop, Space, Stmt, barrier_claims};

/// Returns `true` if a kernel has claims about the end of the launch.
pub(super) fn has_postconditions(kernel: &Kernel) -> bool {
    !kernel.ensures.is_empty()
        || !kernel.footprints.is_empty()
        || kernel.unfollowed.iter().any(|one| one.is_postcondition)
}

/// Returns `true` if a kernel has claims in its body that are not obligations of a thread.
pub(super) fn has_invariants(kernel: &Kernel) -> bool {
    !barrier_claims(&kernel.body).is_empty()
        || !kernel.lemmas.is_empty()
        || !kernel.monoids.is_empty()
        || kernel.unfollowed.iter().any(|one| !one.is_postcondition)
        || !loops_with_claims(&kernel.body).is_empty()
}

/// Loops with claims about elements or real numbers, at any depth.
pub(super) fn loops_with_claims(statements: &[Stmt]) -> Vec<&Loop> {
    let mut found = Vec::new();
    for statement in statements {
        match statement {
            Stmt::If(_, then, otherwise) => {
                found.extend(loops_with_claims(then));
                found.extend(loops_with_claims(otherwise));
            }
            Stmt::Loop(inner) => {
                found.extend((!inner.claims.is_empty()).then_some(&**inner));
                for part in [&inner.head, &inner.body, &inner.step] {
                    found.extend(loops_with_claims(part));
                }
            }
            _ => {}
        }
    }
    found
}

impl Engine<'_> {
    /// Adds the obligation that the contract allows an access, if it has a footprint.
    pub(super) fn oblige_footprint(
        &mut self,
        element: &Element,
        index: &[Poly],
        kind: AccessKind,
        state: &State,
    ) {
        let (array, kernel) = (element.array, self.kernel);
        for writes in [false, true] {
            let is_such_access =
                kind == AccessKind::Atomic || (kind == AccessKind::Write) == writes;
            let has_footprint = kernel.footprints.iter().any(|one| one.writes == writes);
            if !is_such_access || !has_footprint || kernel.arrays[array].space != Space::Global {
                continue;
            }
            let footprints =
                kernel.footprints.iter().filter(|one| (one.writes, one.array) == (writes, array));
            let mut allowed = Vec::new();
            for one in footprints {
                let entry = self.entry.clone();
                let ends = [&one.low, &one.high].map(|end| self.eval(end, &entry, false));
                let ([SymbolicValue::Int(low), SymbolicValue::Int(high)], [at]) = (ends, index)
                else {
                    continue;
                };
                let (above, below) = (at.minus(&low), high.minus(at));
                let inside = [above, below].map(|one| one.map_or(Formula::False, Formula::ge));
                allowed.push(Formula::and(inside));
            }
            let goal = Formula::or(allowed);
            self.oblige(state::Claim::Footprint(array, writes), goal, element.span, state);
        }
    }

    /// Leaves unsupported claims open, and lemmas and monoids that are not in `proved`.
    pub(super) fn leave_claims(&mut self, proved: &[Span]) {
        let kernel = self.kernel;
        for one in &kernel.unfollowed {
            let property = match one.is_postcondition {
                true => Property::Postcondition,
                false => Property::Invariant,
            };
            self.leave_open(property, one.span, None, format!("this: {}", one.why));
        }
        let claims = loops_with_claims(&kernel.body).into_iter().flat_map(|one| &one.claims);
        let claims: Vec<&Claim> = claims.chain(barrier_claims(&kernel.body)).collect();
        for claim in claims.into_iter().filter(|claim| !proved.contains(&claim.span)) {
            let message = "this invariant about array elements or real numbers".to_owned();
            self.leave_open(Property::Invariant, claim.span, None, message);
        }
        for lemma in kernel.lemmas.iter().filter(|one| !proved.contains(&one.span)) {
            let message = format!("the lemma `{}`", lemma.name);
            self.leave_open(Property::Invariant, lemma.span, None, message);
        }
        for monoid in kernel.monoids.iter().filter(|one| !proved.contains(&one.span)) {
            let message = format!("that `{}` is a monoid", monoid.name);
            self.leave_open(Property::Invariant, monoid.span, None, message);
        }
    }
}
