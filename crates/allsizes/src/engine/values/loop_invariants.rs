//! Loop invariants: claims of annotations about variables at loop heads.
//!
//! A claim is proved from the known values of variables at the head. If a floating-point variable has no known
//! recurrence, a claim `x == e` supplies its value. It must be proved on entry of the loop and after an iteration that
//! began with it. That is induction over the iterations of all threads, since no load sees a later store.

use super::super::loops::Head;
use super::claims::Reader;
use super::collect_stores::{Runner, Track};
use super::recurrences::Recurrence;
use super::value::Value;
use base::{Index, Span};
use kir::spec;
use kir::{Compare, Expr, ExprKind, Loop, VarId};

/// The values of floating-point variables in a loop.
pub(super) struct LoopReals {
    /// The recurrence of each.
    pub(super) recurrences: Vec<(VarId, Recurrence)>,
    /// Values at the head that annotations give to variables without a recurrence.
    pub(super) annotated: Vec<AnnotatedValue>,
}

impl LoopReals {
    /// The value that an annotation gives a variable.
    pub(super) fn annotation(&self, var: VarId) -> Option<&Expr> {
        self.annotated.iter().find(|one| one.var == var).map(|one| &one.term)
    }
}

/// A variable's value taken from an annotation.
pub(super) struct AnnotatedValue {
    var: VarId,
    term: Expr,
    /// The annotation, and the number of the equation among the claims of the loop.
    span: Span,
    claim: usize,
}

/// Collects claims `x == e` about variables without a recurrence, where the loop changes no variable of `e`.
pub(super) fn annotated_values(
    inner: &Loop,
    changed: &[VarId],
    sums: &[(VarId, Recurrence)],
) -> Vec<AnnotatedValue> {
    let mut terms = Vec::new();
    for (var, _) in sums.iter().filter(|(_, recurrence)| matches!(recurrence, Recurrence::Other)) {
        let plain = inner.claims.iter().enumerate().filter(|(_, one)| one.forall.is_empty());
        let term = plain.into_iter().find_map(|(number, claim)| {
            let ExprKind::Compare(Compare::Eq, left, right) = &claim.condition.kind else {
                return None;
            };
            let term = match (spec::is_var(left, *var), spec::is_var(right, *var)) {
                (true, _) => right,
                (_, true) => left,
                _ => return None,
            };
            let is_changed =
                |one: &Expr| matches!(one.kind, ExprKind::Var(var) if changed.contains(&var));
            let (span, claim) = (claim.span, number);
            let annotated = || AnnotatedValue { var: *var, term: (**term).clone(), span, claim };
            spec::find(term, is_changed).is_none().then(annotated)
        });
        terms.extend(term);
    }
    terms
}

impl Runner<'_, '_> {
    /// Returns the value that an annotation gives to a variable.
    pub(super) fn annotated_value(&mut self, term: &Expr, track: &Track) -> Value {
        let (point, side) = (self.point(), self.side);
        let value = Reader::of_thread(self.engine, track, point, side).steady(term);
        value.unwrap_or_else(|| self.unknown("a variable whose invariant is not followed"))
    }

    /// Adds obligations: the claims at the head, and the values taken from annotations on entry.
    pub(super) fn oblige_at_head(
        &mut self,
        inner: &Loop,
        entry: &Track,
        reals: &LoopReals,
        (track, head): (&Track, &Head),
    ) {
        if inner.claims.is_empty() {
            return;
        }
        let (outside, side) = (self.point(), self.side);
        let mut point = outside.clone();
        point.loops.push((self.position.len() - 1, head.count));
        point.position.push(0);
        // Clauses about arrays are proved elsewhere.
        let this_loop = self.places.iter().position(|place| *place == self.position);
        let clauses = self.clauses.iter().filter(|(of, _)| Some(*of) == this_loop);
        let clauses: Vec<usize> = clauses.filter_map(|(_, one)| one.claim).collect();
        let gives_value = |number: usize| reals.annotated.iter().any(|one| one.claim == number);
        for (number, claim) in inner.claims.iter().enumerate() {
            if !gives_value(number) && !clauses.contains(&number) {
                let mut reader = Reader::of_thread(self.engine, track, point.clone(), side);
                self.claims.extend(reader.claim_cases(claim));
            }
        }
        for AnnotatedValue { var, term, span, .. } in &reals.annotated {
            let mut reader = Reader::of_thread(self.engine, entry, outside.clone(), side);
            let value = &entry.reals[var.position()];
            self.claims.push(reader.value_case(value, term, *span));
        }
    }

    /// Adds the obligation that the values taken from annotations hold after an iteration.
    pub(super) fn oblige_after_iteration(
        &mut self,
        reals: &LoopReals,
        end: Option<&Track>,
        head: &Head,
    ) {
        let Some(end) = end else { return };
        let mut point = self.point();
        point.loops.push((self.position.len() - 1, head.count));
        point.position.push(3);
        for AnnotatedValue { var, term, span, .. } in &reals.annotated {
            let mut reader = Reader::of_thread(self.engine, end, point.clone(), self.side);
            let value = &end.reals[var.position()];
            self.claims.push(reader.value_case(value, term, *span));
        }
    }
}
