//! What annotations claim beyond integer variables, and what becomes of it: whatever nothing has shown is left open,
//! with its line.

use super::{Engine, Property};
use crate::kir::{Claim, Kernel, Loop, Stmt, barrier_claims};
use base::Span;

/// Whether a kernel claims something of the end of the launch.
pub(super) fn has_postconditions(kernel: &Kernel) -> bool {
    !kernel.ensures.is_empty() || kernel.unfollowed.iter().any(|one| one.is_postcondition)
}

/// Whether it claims something on the way there that is no obligation of a thread.
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
    /// Leaves open what nothing follows. `shown` are places of claims that were shown.
    pub(super) fn leave_claims(&mut self, shown: &[Span]) {
        let kernel = self.kernel;
        for one in &kernel.unfollowed {
            let property = match one.is_postcondition {
                true => Property::Postcondition,
                false => Property::Invariant,
            };
            self.note(property, one.span, None, format!("this: {}", one.why));
        }
        let claims = loops_with_claims(&kernel.body).into_iter().flat_map(|one| &one.claims);
        let claims: Vec<&Claim> = claims.chain(barrier_claims(&kernel.body)).collect();
        for claim in claims.into_iter().filter(|claim| !shown.contains(&claim.span)) {
            let message = "this invariant of elements or real numbers".to_owned();
            self.note(Property::Invariant, claim.span, None, message);
        }
        for lemma in kernel.lemmas.iter().filter(|one| !shown.contains(&one.span)) {
            let message = format!("the lemma `{}`", lemma.name);
            self.note(Property::Invariant, lemma.span, None, message);
        }
        for monoid in kernel.monoids.iter().filter(|one| !shown.contains(&one.span)) {
            let message = format!("that `{}` is a monoid", monoid.name);
            self.note(Property::Invariant, monoid.span, None, message);
        }
    }
}
