//! Evaluates decisions about elements: counts, conditions, and differences that both kernels confirm.

use super::visible::VisibleFloats;
use super::{Outputs, Pair};
use crate::approximation::{self, Reported};
use crate::difference::{Difference, Point, describe};
use crate::position::{OpenElement, OpenReason, Position};
use crate::witness::{Numbers, confirm};
use decide::{Decision, Discrepancy, Reason};
use ir::Scalar;
use term::Term;

impl Outputs<'_, '_> {
    /// Records the decisions about elements: counts, conditions, open elements.
    ///
    /// # Errors
    /// The first difference that floats show.
    pub(super) fn judge(
        &mut self,
        name: &str,
        pairs: &[Pair],
        decisions: &[Decision],
        open: &mut Vec<OpenElement>,
    ) -> Result<(), Box<Difference>> {
        for (decision, &(index, pair)) in decisions.iter().zip(pairs) {
            let position = Position { name: name.to_owned(), index };
            let element =
                |reason: OpenReason| OpenElement { position: position.clone(), reason, lost: None };
            match decision {
                Decision::Different { point, discrepancy } => {
                    let difference = match self.judge_difference(pair, (point, discrepancy)) {
                        Reported::At(point, discrepancy) => {
                            self.find_visible_difference(&position, pair, (point, discrepancy))
                        }
                        Reported::Close(reason) => Err(OpenReason::Approximates(reason)),
                    };
                    match difference {
                        Ok(difference) => return Err(difference),
                        Err(reason) => open.push(element(reason)),
                    }
                }
                Decision::Equal { rung, conditions } => {
                    *self.compared.rungs.entry(rung.to_string()).or_default() += 1;
                    if conditions.iter().any(|assumed| assumed.fails_at.is_some()) {
                        match self.check_undefined_inputs(&position, pair) {
                            Ok(None) => {}
                            Ok(Some(difference)) => return Err(difference),
                            Err(reason) => {
                                open.push(element(reason));
                                continue;
                            }
                        }
                    }
                    let optimised = &self.ran[1].domain.terms;
                    let texts =
                        conditions.iter().map(|condition| condition.condition.print(optimised));
                    self.compared.conditions.extend(texts);
                }
                Decision::Unknown(Reason::Skipped) => {
                    // Skipped because of an earlier difference, which turned out too small to report.
                    if let Some((point, discrepancy)) = self.find_large_difference(pair)
                        && let Ok(VisibleFloats::Apart(difference)) =
                            self.difference(&position, pair, &point, &discrepancy)
                    {
                        return Err(difference);
                    }
                    open.push(element(OpenReason::Undecided(Reason::Skipped)));
                }
                Decision::Unknown(reason) => open.push(element(OpenReason::Undecided(*reason))),
            }
        }
        Ok(())
    }

    /// Runs the kernels at a point at which terms differ. Returns the difference, or `Alike` if the floats of both
    /// kernels agree there.
    ///
    /// # Errors
    /// The reason why the point is not conclusive.
    pub(super) fn difference(
        &mut self,
        position: &Position,
        pair: (Term, Term),
        point: &Point,
        discrepancy: &Discrepancy,
    ) -> Result<VisibleFloats, OpenReason> {
        let stores = self.ran.each_ref().map(|ran| &ran.domain.terms);
        let numbers = Numbers::new(self.sides, self.table, stores[0], point, self.assumed);
        let Some(numbers) = numbers else {
            return Err(OpenReason::Unrepresentable);
        };
        let witness = confirm(self.sides, self.table, position, &numbers, self.clock.limits());
        let is_shown = witness.as_ref().is_some_and(|one| one.shows_difference());
        if witness.as_ref().is_some_and(|one| one.contradicts()) {
            return Err(OpenReason::Contradicted);
        }
        // Outside its range a recognised function is something else. Only the run on intervals checks the
        // range.
        if self.ran.iter().any(|ran| ran.domain.has_ranges) && !is_shown {
            return Err(OpenReason::OutOfRange);
        }
        // A difference in definedness counts only if the kernels themselves show it.
        let only_defined = matches!(discrepancy, Discrepancy::OnlyReferenceDefined(_));
        if only_defined && !is_shown {
            return Err(OpenReason::Undefined);
        }
        // Different integers may be equal after wrapping around.
        let output = self.sides[0].writer(self.sides[0].count(), &position.name);
        let is_float = output.is_some_and(|(_, one)| matches!(one.scalar, Scalar::Float(_)));
        if !is_float && !is_shown {
            return Err(OpenReason::Wraps);
        }
        let floats =
            self.replays.run(self.sides, self.table, position, &numbers, self.clock.limits());
        match floats {
            // Only the reference is defined over the reals. Floats that differ by rounding are no evidence then.
            Some(floats) if only_defined && floats.are_close() => return Ok(VisibleFloats::Alike),
            Some(floats) if floats.are_alike() => return Ok(VisibleFloats::Alike),
            None if only_defined => return Err(OpenReason::Undefined),
            _ => {}
        }
        let values = match discrepancy {
            Discrepancy::Values(a, b) => [Some(a.to_f64_lossy()), Some(b.to_f64_lossy())],
            Discrepancy::OnlyReferenceDefined(a) => [Some(a.to_f64_lossy()), None],
        };
        let inputs = numbers.named(stores[0].inputs(), point);
        let description = describe(stores, pair);
        Ok(VisibleFloats::Apart(Box::new(Difference {
            position: position.clone(),
            expressions: description.expressions,
            reads: description.reads,
            inputs,
            values,
            witness,
            floats,
            is_numeric: false,
            stores: [None; 2],
            rounding: Vec::new(),
            near: Vec::new(),
        })))
    }

    /// Judges a difference, and finds the point that shows it best.
    pub(super) fn judge_difference(
        &self,
        pair: (Term, Term),
        found: (&Point, &Discrepancy),
    ) -> Reported {
        self.with_problem(&[pair], |problem, budget| {
            approximation::judge_difference(problem, pair, found, budget)
        })
    }

    /// Returns `true` if a side has a polynomial that may stand for a function.
    pub(super) fn has_unrecognised_polynomial(&self, pair: (Term, Term)) -> bool {
        self.with_problem(&[pair], |problem, _| {
            approximation::has_unrecognised_polynomial(problem, pair)
        })
    }

    /// Looks for a difference too large for an approximation, with few points.
    fn find_large_difference(&self, pair: (Term, Term)) -> Option<(Point, Discrepancy)> {
        self.with_problem(&[pair], |problem, budget| {
            approximation::find_large_difference(problem, pair, budget)
        })
    }
}
