//! Evaluates quantifiers and folds of annotations in a run, by trying each value of their variables.
//!
//! The values come from explicit ranges in the annotation (`0 <= i && i < n ==> …`). Without one, or with more than
//! [`MAX_VALUES`] values, the result is undefined.

use crate::arithmetic::Arithmetic;
use crate::evaluate::evaluate;
use crate::operations::{float_binary, integer_binary};
use crate::rounding::Rounding;
use crate::value::{Environment, EvaluationError, Value, used_integer};
use kir::spec;
use kir::{
    ArrayId, Binary, Builtin, Expr, ExprKind, Fold, FoldOp, Monoid, Precision, Type, VarId, When,
};

/// A callback for an assignment of values to variables; returns `true` to get the next assignment.
type OnAssignment<'s> = &'s mut dyn FnMut(&[(VarId, i128)]) -> Result<bool, EvaluationError>;

/// An environment with values for additional variables.
pub(crate) struct BoundVariables<'e> {
    pub(crate) outer: &'e dyn Environment,
    pub(crate) vars: &'e [(VarId, i128)],
}

impl Environment for BoundVariables<'_> {
    fn var(&self, var: VarId) -> Value {
        let bound = self.vars.iter().find(|(one, _)| *one == var);
        bound.map_or_else(|| self.outer.var(var), |(_, value)| Value::int(*value))
    }

    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128> {
        self.outer.builtin(builtin, axis)
    }

    fn element(&self, array: ArrayId, when: When, index: [i128; 3]) -> Value {
        self.outer.element(array, when, index)
    }

    fn tests_claims(&self) -> bool {
        self.outer.tests_claims()
    }

    fn precision(&self) -> Precision {
        self.outer.precision()
    }

    fn compiled(&self) -> Option<&Arithmetic> {
        self.outer.compiled()
    }

    fn conversions_wrap(&self) -> bool {
        self.outer.conversions_wrap()
    }

    fn rounding(&self) -> Option<&Rounding> {
        self.outer.rounding()
    }

    fn other(&self) -> Option<&dyn Environment> {
        self.outer.other()
    }

    fn bound(&self) -> Vec<(VarId, i128)> {
        self.vars.iter().copied().chain(self.outer.bound()).collect()
    }

    fn as_dyn(&self) -> &dyn Environment {
        self
    }
}

/// An environment with the arguments of a call.
struct CallArguments<'e> {
    outer: &'e dyn Environment,
    vars: &'e [(VarId, Value)],
}

impl Environment for CallArguments<'_> {
    fn var(&self, var: VarId) -> Value {
        let argument = self.vars.iter().find(|(one, _)| *one == var);
        argument.map_or_else(|| self.outer.var(var), |(_, value)| *value)
    }

    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128> {
        self.outer.builtin(builtin, axis)
    }

    fn element(&self, array: ArrayId, when: When, index: [i128; 3]) -> Value {
        self.outer.element(array, when, index)
    }

    fn tests_claims(&self) -> bool {
        self.outer.tests_claims()
    }

    fn precision(&self) -> Precision {
        self.outer.precision()
    }

    fn compiled(&self) -> Option<&Arithmetic> {
        self.outer.compiled()
    }

    fn conversions_wrap(&self) -> bool {
        self.outer.conversions_wrap()
    }

    fn rounding(&self) -> Option<&Rounding> {
        self.outer.rounding()
    }

    fn as_dyn(&self) -> &dyn Environment {
        self
    }
}

/// Applies a monoid to two values.
pub(crate) fn apply_monoid(
    monoid: &Monoid,
    arguments: &[Value],
    env: &dyn Environment,
    strict: bool,
) -> Result<Value, EvaluationError> {
    let vars: Vec<(VarId, Value)> =
        monoid.parameters.iter().copied().zip(arguments.iter().copied()).collect();
    evaluate(&monoid.result, &CallArguments { outer: env, vars: &vars }, strict)
}

/// Limit on the values of one quantified variable.
const MAX_VALUES: i128 = 4096;

/// Calls `on_assignment` for each assignment of values to quantified variables, within their explicit ranges, until
/// the callback returns `false`. Without a range the result is undefined.
pub(crate) fn for_each_assignment(
    vars: &[VarId],
    body: &Expr,
    exists: bool,
    env: &dyn Environment,
    on_assignment: OnAssignment<'_>,
) -> Result<bool, EvaluationError> {
    // For `A ==> B`, and for `A && B`, only values that satisfy `A` matter.
    let conditions = match (&body.kind, exists) {
        (ExprKind::Or(left, _), false) => spec::conjuncts(&spec::negated(left)),
        (_, true) => spec::conjuncts(body),
        _ => Vec::new(),
    };
    for_each_in_ranges(vars, &conditions, env, on_assignment)
}

/// Like [`for_each_assignment`], with the conditions that give the ranges.
pub(crate) fn for_each_in_ranges(
    vars: &[VarId],
    conditions: &[Expr],
    env: &dyn Environment,
    on_assignment: OnAssignment<'_>,
) -> Result<bool, EvaluationError> {
    choose_values(vars, conditions, &mut Vec::new(), env, on_assignment)
}

/// Extends `values` by each value of the first variable, then by those of the others.
fn choose_values(
    vars: &[VarId],
    conditions: &[Expr],
    values: &mut Vec<(VarId, i128)>,
    env: &dyn Environment,
    on_assignment: OnAssignment<'_>,
) -> Result<bool, EvaluationError> {
    let Some((var, rest)) = vars.split_first() else { return on_assignment(values) };
    let range = spec::range(*var, conditions);
    let inner = BoundVariables { outer: env, vars: values };
    let number = |expr: &Expr| match evaluate(expr, &inner, true) {
        Ok(Value::Int { value, exact }) if exact == Some(value) => Some(value),
        _ => None,
    };
    let low = range.low.iter().filter_map(number).max();
    let high = range.high.iter().filter_map(|(bound, is_value)| {
        number(bound).and_then(|bound| bound.checked_add(i128::from(*is_value)))
    });
    let (Some(low), Some(high)) = (low, high.min()) else { return Err(EvaluationError::Undefined) };
    if high.saturating_sub(low) > MAX_VALUES {
        return Err(EvaluationError::Undefined);
    }
    for value in low..high {
        values.push((*var, value));
        let continues = choose_values(rest, conditions, values, env, on_assignment);
        values.pop();
        if !continues? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Evaluates a fold, from the first value to the last.
pub(crate) fn evaluate_fold(
    fold: &Fold,
    ty: Type,
    env: &dyn Environment,
    strict: bool,
) -> Result<Value, EvaluationError> {
    let mut bounds = [0; 2];
    for (slot, one) in bounds.iter_mut().zip([&fold.low, &fold.high]) {
        let outer = BoundVariables { outer: env, vars: &[] };
        *slot = used_integer(evaluate(one, &outer, true)?, one)?;
    }
    let [low, high] = bounds;
    if high.saturating_sub(low) > MAX_VALUES {
        return Err(EvaluationError::Undefined);
    }
    let operator = match fold.op {
        FoldOp::Add => Binary::Add,
        FoldOp::Mul => Binary::Mul,
        FoldOp::Max => Binary::Max,
        FoldOp::Min => Binary::Min,
        FoldOp::Or => Binary::BitOr,
        FoldOp::And => Binary::BitAnd,
        FoldOp::Xor => Binary::BitXor,
        // Handled below.
        FoldOp::Monoid(_) => Binary::Add,
    };
    let mut all: Option<Value> = match fold.op {
        FoldOp::Add | FoldOp::Or | FoldOp::Xor => Some(0),
        FoldOp::Mul => Some(1),
        FoldOp::And => Some(-1),
        // The maximum of no numbers is undefined.
        _ => None,
    }
    .map(|unit| match ty {
        #[expect(clippy::cast_precision_loss, reason = "0 or 1")]
        Type::Float => Value::float(unit as f64),
        _ => Value::int(unit),
    });
    if let Some(monoid) = &fold.monoid {
        all = Some(evaluate(&monoid.unit, &BoundVariables { outer: env, vars: &[] }, strict)?);
    }
    for value in low..high {
        let vars = [(fold.var, value)];
        let next = evaluate(&fold.body, &BoundVariables { outer: env, vars: &vars }, strict)?;
        all = Some(match (all, next) {
            (None, next) => next,
            (Some(one), next) if fold.monoid.is_some() => {
                let monoid = fold.monoid.as_ref().ok_or(EvaluationError::Undefined)?;
                apply_monoid(monoid, &[one, next], env, strict)?
            }
            (Some(Value::Float(one)), Value::Float(other)) => {
                Value::Float(float_binary(operator, one, other, env.precision()))
            }
            (Some(one), next) => integer_binary(operator, one, next, &fold.body, strict)?,
        });
    }
    all.ok_or(EvaluationError::Undefined)
}
