//! Tests postconditions on the final memory of a run.
//!
//! A comparison of floats is undefined where their enclosures do not decide it (`real.rs`), or where a difference is
//! within the rounding of a constant; then nothing fails. A claim whose variables have no range, or that mentions
//! elements without a value, is not tested.

use crate::contract::parameter_value;
use crate::evaluate::{evaluate, truth};
use crate::launch::Launch;
use crate::outcome::{Contents, Event};
use crate::quantifiers::for_each_in_ranges;
use crate::value::{Environment, EvaluationError, Value};
use kir::spec;
use kir::{ArrayId, Builtin, Claim, Expr, ExprKind, Kernel, VarId, When};

/// Initial and final contents of a launch.
struct RunContents<'r> {
    kernel: &'r Kernel,
    launch: &'r Launch,
    before: &'r Contents,
    after: &'r Contents,
    bound: &'r [(VarId, i128)],
}

impl Environment for RunContents<'_> {
    fn var(&self, var: VarId) -> Value {
        match self.bound.iter().find(|(one, _)| *one == var) {
            Some((_, value)) => Value::int(*value),
            None => parameter_value(self.kernel, self.launch, var),
        }
    }

    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128> {
        match builtin {
            Builtin::BlockDim => Some(self.launch.block[axis]),
            Builtin::GridDim => Some(self.launch.grid[axis]),
            Builtin::Thread | Builtin::Block => None,
        }
    }

    fn element(&self, array: ArrayId, when: When, index: [i128; 3]) -> Value {
        let contents = if when == When::Before { self.before } else { self.after };
        let at = usize::try_from(index[0]).ok();
        let value = contents.get(&array).and_then(|values| values.get(at?));
        value.copied().unwrap_or(Value::Undefined)
    }

    fn tests_claims(&self) -> bool {
        true
    }

    fn as_dyn(&self) -> &dyn Environment {
        self
    }
}

/// Returns the first postcondition that fails, given the initial and final contents of a launch.
#[must_use]
pub fn failed_postcondition(
    kernel: &Kernel,
    launch: &Launch,
    [before, after]: [&Contents; 2],
) -> Option<Event> {
    kernel.ensures.iter().find_map(|claim| {
        spec::goals(claim).iter().find_map(|goal| {
            let contents = RunContents { kernel, launch, before, after, bound: &[] };
            let mut found = None;
            // Without a range there is nothing to test.
            let _ = for_each_in_ranges(&claim.forall, &goal.assumed, &contents, &mut |bound| {
                let env = RunContents { bound, ..contents };
                found = counterexample(claim, goal, &env, bound);
                Ok(found.is_none())
            });
            found
        })
    })
}

fn counterexample(
    claim: &Claim,
    goal: &spec::Goal,
    env: &RunContents<'_>,
    bound: &[(VarId, i128)],
) -> Option<Event> {
    for one in goal.assumed.iter().chain([&goal.goal]) {
        let is_goal = std::ptr::eq(one, &goal.goal);
        match truth(one, env) {
            Err(EvaluationError::DivisionByZero(span)) => {
                return Some(Event::NoValue { span, at: bound.to_vec(), divides: true });
            }
            Err(EvaluationError::Shift(span)) => {
                return Some(Event::NoValue { span, at: bound.to_vec(), divides: false });
            }
            Ok(true) if !is_goal => {}
            Ok(false) if is_goal => {}
            _ => return None,
        }
    }
    let mut observed = (None, None, None);
    if let ExprKind::Compare(_, left, right) = &goal.goal.kind {
        // The element whose value the kernel computed, and the expected value.
        let (actual, expected) =
            if element(left, env).is_some() { (left, right) } else { (right, left) };
        let value = |one: &Expr| evaluate(one, env, false).ok();
        observed = (element(actual, env), value(actual), value(expected));
    }
    let (element, got, want) = observed;
    let (span, at) = (claim.span, bound.to_vec());
    Some(Event::Postcondition { span, at, element, got, want })
}

/// Returns the array and index of an expression that is an element; `None` for other expressions.
fn element(expr: &Expr, env: &RunContents<'_>) -> Option<(ArrayId, Vec<i128>)> {
    match &expr.kind {
        ExprKind::Convert(inner) => element(inner, env),
        ExprKind::Element(array, When::Here, index) => {
            let at = |one: &Expr| -> Result<i128, EvaluationError> {
                evaluate(one, env, true)?.number().ok_or(EvaluationError::Undefined)
            };
            let index: Result<Vec<i128>, EvaluationError> = index.iter().map(at).collect();
            Some((*array, index.ok()?))
        }
        _ => None,
    }
}
