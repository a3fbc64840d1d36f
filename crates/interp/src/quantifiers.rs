//! Evaluates quantifiers and folds of annotations in a run, by trying each value of their variables.
//!
//! The values come from explicit ranges in the annotation (`0 <= i && i < n ==> …`). Without one, or with more than
//! [`MAX_VALUES`] values, the result is undefined.

use crate::arithmetic::Arithmetic;
use crate::value::{
    Environment, Trouble, Value, evaluate, float_binary, integer_binary, looked_at,
};
use kir::spec;
use kir::{ArrayId, Binary, Builtin, Expr, ExprKind, Fold, FoldOp, Monoid, Type, VarId, When};

/// A callback for values of variables; returns `true` to get more.
type See<'s> = &'s mut dyn FnMut(&[(VarId, i128)]) -> Result<bool, Trouble>;

/// An environment with values for additional variables.
pub(crate) struct Bound<'e> {
    pub(crate) outer: &'e dyn Environment,
    pub(crate) vars: &'e [(VarId, i128)],
}

impl Environment for Bound<'_> {
    fn var(&self, var: VarId) -> Value {
        let own = self.vars.iter().find(|(one, _)| *one == var);
        own.map_or_else(|| self.outer.var(var), |(_, value)| Value::int(*value))
    }

    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128> {
        self.outer.builtin(builtin, axis)
    }

    fn element(&self, array: ArrayId, when: When, index: [i128; 3]) -> Value {
        self.outer.element(array, when, index)
    }

    fn is_rough(&self) -> bool {
        self.outer.is_rough()
    }

    fn compiled(&self) -> Option<&Arithmetic> {
        self.outer.compiled()
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
struct Called<'e> {
    outer: &'e dyn Environment,
    vars: &'e [(VarId, Value)],
}

impl Environment for Called<'_> {
    fn var(&self, var: VarId) -> Value {
        let own = self.vars.iter().find(|(one, _)| *one == var);
        own.map_or_else(|| self.outer.var(var), |(_, value)| *value)
    }

    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128> {
        self.outer.builtin(builtin, axis)
    }

    fn element(&self, array: ArrayId, when: When, index: [i128; 3]) -> Value {
        self.outer.element(array, when, index)
    }

    fn is_rough(&self) -> bool {
        self.outer.is_rough()
    }

    fn compiled(&self) -> Option<&Arithmetic> {
        self.outer.compiled()
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
) -> Result<Value, Trouble> {
    let vars: Vec<(VarId, Value)> =
        monoid.parameters.iter().copied().zip(arguments.iter().copied()).collect();
    evaluate(&monoid.result, &Called { outer: env, vars: &vars }, strict)
}

/// Limit on the values of one quantified variable.
const MAX_VALUES: i128 = 4096;

/// Calls `see` with the values that quantified variables can have, according to their explicit ranges, until it
/// returns `false`. Without a range there is no answer.
pub(crate) fn assignments(
    vars: &[VarId],
    body: &Expr,
    exists: bool,
    env: &dyn Environment,
    see: See<'_>,
) -> Result<bool, Trouble> {
    // For `A ==> B`, and for `A && B`, only values that satisfy `A` matter.
    let conditions = match (&body.kind, exists) {
        (ExprKind::Or(left, _), false) => spec::conjuncts(&spec::negated(left)),
        (_, true) => spec::conjuncts(body),
        _ => Vec::new(),
    };
    each(vars, &conditions, env, see)
}

/// The same, given the conditions with the ranges.
pub(crate) fn each(
    vars: &[VarId],
    conditions: &[Expr],
    env: &dyn Environment,
    see: See<'_>,
) -> Result<bool, Trouble> {
    fixed(vars, conditions, &mut Vec::new(), env, see)
}

fn fixed(
    vars: &[VarId],
    conditions: &[Expr],
    values: &mut Vec<(VarId, i128)>,
    env: &dyn Environment,
    see: See<'_>,
) -> Result<bool, Trouble> {
    let Some((var, rest)) = vars.split_first() else { return see(values) };
    let range = spec::range(*var, conditions);
    let inner = Bound { outer: env, vars: values };
    let number = |expr: &Expr| match evaluate(expr, &inner, true) {
        Ok(Value::Int { value, exact }) if exact == Some(value) => Some(value),
        _ => None,
    };
    let low = range.low.iter().filter_map(number).max();
    let high = range.high.iter().filter_map(|(bound, is_value)| {
        number(bound).and_then(|bound| bound.checked_add(i128::from(*is_value)))
    });
    let (Some(low), Some(high)) = (low, high.min()) else { return Err(Trouble::Undefined) };
    if high.saturating_sub(low) > MAX_VALUES {
        return Err(Trouble::Undefined);
    }
    for value in low..high {
        values.push((*var, value));
        let goes_on = fixed(rest, conditions, values, env, see);
        values.pop();
        if !goes_on? {
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
) -> Result<Value, Trouble> {
    let mut bounds = [0; 2];
    for (slot, one) in bounds.iter_mut().zip([&fold.low, &fold.high]) {
        let outer = Bound { outer: env, vars: &[] };
        *slot = looked_at(evaluate(one, &outer, true)?, one)?;
    }
    let [low, high] = bounds;
    if high.saturating_sub(low) > MAX_VALUES {
        return Err(Trouble::Undefined);
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
        // No numbers have no maximum.
        _ => None,
    }
    .map(|unit| match ty {
        #[expect(clippy::cast_precision_loss, reason = "0 or 1")]
        Type::Float => Value::Float(unit as f64),
        _ => Value::int(unit),
    });
    if let Some(monoid) = &fold.monoid {
        all = Some(evaluate(&monoid.unit, &Bound { outer: env, vars: &[] }, strict)?);
    }
    for value in low..high {
        let vars = [(fold.var, value)];
        let next = evaluate(&fold.body, &Bound { outer: env, vars: &vars }, strict)?;
        all = Some(match (all, next) {
            (None, next) => next,
            (Some(one), next) if fold.monoid.is_some() => {
                let monoid = fold.monoid.as_ref().ok_or(Trouble::Undefined)?;
                apply_monoid(monoid, &[one, next], env, strict)?
            }
            (Some(Value::Float(one)), Value::Float(other)) => {
                Value::Float(float_binary(operator, one, other))
            }
            (Some(one), next) => integer_binary(operator, one, next, &fold.body, strict)?,
        });
    }
    all.ok_or(Trouble::Undefined)
}
