//! Explains why equality is unknown, and the limits of a proof.

use super::FinishedComparison;
use crate::execute::FinishedRun;
use equiv::UnprovedRange;
use exec::Fault;

impl FinishedComparison<'_> {
    /// Returns `true` if a run goes out of bounds for some inputs. Its results then cannot be compared.
    pub(super) fn may_leave_bounds(&self) -> bool {
        let is_conditional =
            |fault: &Fault| matches!(fault, Fault::OutOfBounds { when: Some(_), .. });
        self.launches()
            .any(|side| side.result.findings.iter().any(|finding| is_conditional(&finding.fault)))
    }

    /// Explains an open answer: inlined code equals a function only in a range of arguments, and the arguments are not
    /// proved to be in it.
    pub(super) fn explain_unproved_range(&self, unproved: &UnprovedRange) -> String {
        let UnprovedRange { function, range, side, condition, assume } = unproved;
        let place = self.sides[*side].iter().find_map(|launch| {
            let kernel = launch.kernel();
            let mut all = kernel.functions().into_iter().flat_map(ir::Function::instructions);
            let own = all.find(|one| {
                matches!(&one.op, ir::Op::Real { function: f, range: r, .. }
                    if f == function && *r == Some(*range))
            })?;
            Some(kernel.line(exec::Place { span: own.span, location: own.location }))
        });
        let place = place.map(|line| format!(" at {line}")).unwrap_or_default();
        let name = format!("{function:?}").to_lowercase();
        let why = match range.drops_code() {
            true => "the code for other arguments was not recognised",
            false => "the code has no case for other arguments",
        };
        let remedy = match assume {
            Some(assume) => format!("`--assume '{assume}'` would settle it"),
            None => "assume a condition on the inputs that implies it (--assume)".to_owned(),
        };
        format!(
            "the inlined {name}{place} equals that function only where {condition} ({why}), which does not \
            follow from the inputs; {remedy}"
        )
    }

    /// Names scalar arguments that a float does not represent exactly, if rounding them changes a decision.
    pub(super) fn explain_scalar_rounding(&self, decision: &equiv::ScalarDecision) -> String {
        let scalars = decision.scalars.iter().map(|(name, exact, nearest)| {
            format!("`{name}` is {exact}, but the nearest float ({nearest})")
        });
        let side = decision.side;
        let place = match (&self.sides[side][..], decision.place) {
            ([launch], Some(place)) => format!(" at {}", launch.kernel().line(place)),
            _ => String::new(),
        };
        let name = ["the reference", "the optimised kernel"][side];
        format!(
            "{} leads to a different decision in {name}{place} (a comparison, a rounding to an integer or a \
            sign); pass the float itself",
            scalars.collect::<Vec<_>>().join("; ")
        )
    }

    /// Names the line after which a value was not followed any more, if the side is a single launch: ` (line 12 of the
    /// reference)`
    pub(super) fn line_where_lost(&self, open: &equiv::OpenElement) -> String {
        let Some((side, place)) = open.lost else { return String::new() };
        let name = ["the reference", "the optimised kernel"][side];
        match &self.sides[side][..] {
            [launch] => format!(" ({} of {name})", launch.kernel().line(place)),
            _ => String::new(),
        }
    }

    /// Describes module variables that a kernel leaves changed: results that are not compared.
    pub(super) fn uncompared_variables(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (side, name) in self.sides.iter().zip(["reference", "optimised kernel"]) {
            for variable in side.iter().flat_map(FinishedRun::changed_variables) {
                all.push(format!("module variable `{variable}`, which the {name} writes, is not an output: it is not compared"));
            }
        }
        all.dedup();
        all
    }
}
