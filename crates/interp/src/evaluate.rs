//! Evaluates expressions of one thread.
//!
//! In expressions that feed indices or conditions (`strict`), a signed operation that leaves its type is an overflow at
//! once, because C leaves it undefined. Elsewhere numbers may wrap until they are used (`value.rs`).

use crate::operations::{
    compiled_conversion, compiled_integer_binary, float_binary, function, holds_for_order,
    integer_binary, keep_unsigned_wrap,
};
use crate::quantifiers::{BoundVariables, apply_monoid, evaluate_fold, for_each_assignment};
use crate::real::Real;
use crate::rounding::{self, Truncated};
use crate::value::{Environment, EvaluationError, Value, used_integer};
use kir::{
    Binary, Compare, Expr, ExprKind, FETCH_OF_INDEX, Quantifier, Type, Unary, VarId, is_fetch,
};
use std::cmp::Ordering;

/// Evaluates `expr`; `strict` if it feeds an index or a condition.
pub fn evaluate(
    expr: &Expr,
    env: &impl Environment,
    strict: bool,
) -> Result<Value, EvaluationError> {
    Ok(match &expr.kind {
        ExprKind::Int(value) => Value::int(*value),
        ExprKind::Float(value) => {
            let literal = rounding::literal(*value, env.precision());
            let compiled = env.compiled().map(|arithmetic| arithmetic.constant(*value));
            Value::Float(compiled.map_or(literal, |value| literal.moved_to(value)))
        }
        ExprKind::Var(var) => env.var(*var),
        ExprKind::Builtin(builtin, axis) => {
            env.builtin(*builtin, *axis).map_or(Value::Undefined, Value::int)
        }
        ExprKind::Unary(operator, inner) => unary(*operator, inner, expr, env, strict)?,
        ExprKind::Binary(operator, left, right) => {
            binary(*operator, [left, right], expr, env, strict)?
        }
        ExprKind::Compare(operator, left, right) => {
            let holds = compare(*operator, [left, right], env, strict)?;
            Value::int(i128::from(holds))
        }
        ExprKind::And(left, right) | ExprKind::Or(left, right) => {
            let decides = matches!(expr.kind, ExprKind::Or(..));
            match truth(left, env)? {
                first if first == decides => Value::int(i128::from(first)),
                _ => Value::int(i128::from(truth(right, env)?)),
            }
        }
        ExprKind::Select(condition, then, otherwise) => {
            let chosen = if truth(condition, env)? { then } else { otherwise };
            evaluate(chosen, env, strict)?
        }
        ExprKind::Convert(inner) => convert(inner, expr.ty, env, strict)?,
        ExprKind::Call(name, arguments) if is_fetch(name) => fetch(name, arguments, env)?,
        ExprKind::Call(name, arguments) => call(name, arguments, env, strict)?,
        ExprKind::Combine(monoid, arguments) => {
            let mut values = Vec::new();
            for argument in arguments {
                values.push(evaluate(argument, env, strict)?);
            }
            apply_monoid(monoid, &values, env.as_dyn(), strict)?
        }
        ExprKind::Element(array, when, index) => {
            let mut at = [0; 3];
            for (slot, one) in at.iter_mut().zip(index) {
                *slot = used_integer(evaluate(one, env, true)?, one)?;
            }
            env.element(*array, *when, at)
        }
        ExprKind::Quantified(quantifier, vars, body) => quantified(*quantifier, vars, body, env)?,
        ExprKind::Fold(fold) => evaluate_fold(fold, expr.ty, env.as_dyn(), strict)?,
        ExprKind::Other(inner) => match env.other() {
            Some(other) => {
                let vars = env.bound();
                evaluate(inner, &BoundVariables { outer: other, vars: &vars }, strict)?
            }
            None => return Err(EvaluationError::Undefined),
        },
    })
}

/// The truth of a condition.
pub fn truth(expr: &Expr, env: &impl Environment) -> Result<bool, EvaluationError> {
    Ok(used_integer(evaluate(expr, env, true)?, expr)? != 0)
}

/// Evaluates `expr`, an operator on `operands`.
fn binary(
    operator: Binary,
    operands: [&Expr; 2],
    expr: &Expr,
    env: &impl Environment,
    strict: bool,
) -> Result<Value, EvaluationError> {
    let left = evaluate(operands[0], env, strict)?;
    let right = evaluate(operands[1], env, strict)?;
    if let (Value::Float(left), Value::Float(right)) = (left, right) {
        let result = float_binary(operator, left, right, env.precision());
        let value = result.value();
        return Ok(Value::Float(env.compiled().map_or(result, |arithmetic| {
            result.moved_to(arithmetic.binary(operator, left.value(), right.value(), value))
        })));
    }
    match env.compiled() {
        Some(_) => compiled_integer_binary(operator, left, right, expr, strict),
        None => integer_binary(operator, left, right, expr, strict),
    }
}

fn compare(
    operator: Compare,
    [left, right]: [&Expr; 2],
    env: &impl Environment,
    strict: bool,
) -> Result<bool, EvaluationError> {
    let (one, other) = (evaluate(left, env, strict)?, evaluate(right, env, strict)?);
    let is_equation = matches!(operator, Compare::Eq | Compare::Ne);
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => {
            // `x != x` tests for NaN.
            let is_same =
                matches!((&left.kind, &right.kind), (ExprKind::Var(x), ExprKind::Var(y)) if x == y);
            compare_floats(operator, [one, other], is_same, env)
        }
        // An equation of a machine type compares the machine's values.
        (Value::Int { value: one, .. }, Value::Int { value: other, .. })
            if env.tests_claims() && is_equation && matches!(left.ty, Type::Int { .. }) =>
        {
            Ok(holds_for_order(operator, Some(one.cmp(&other))))
        }
        _ => {
            let (one, other) = (compared_integer(one, left)?, compared_integer(other, right)?);
            Ok(holds_for_order(operator, Some(one.cmp(&other))))
        }
    }
}

/// Compares floats, of one variable if `is_same`.
fn compare_floats(
    operator: Compare,
    [one, other]: [Real; 2],
    is_same: bool,
    env: &impl Environment,
) -> Result<bool, EvaluationError> {
    let by_doubles = holds_for_order(operator, one.value().partial_cmp(&other.value()));
    let decided = match is_same && !one.is_nan() {
        // Any number equals itself; only NaN does not.
        true => (!one.is_unknown()).then(|| holds_for_order(operator, Some(Ordering::Equal))),
        false => one.compare(operator, other),
    };
    // A claim fails for numbers, and for more than the rounding of its constants.
    let is_number = |real: Real| real.value().is_finite() && !real.is_nan();
    let is_tested = is_number(one) && is_number(other) && !one.is_close(other);
    let decided = decided.filter(|_| !env.tests_claims() || is_tested);
    if let (None, Some(notes)) = (decided, env.rounding()) {
        notes.note_decision();
        return Ok(by_doubles);
    }
    decided.ok_or(EvaluationError::Rounded)
}

/// A compared integer. A conversion between signed and unsigned types of one width is defined for every number, so its
/// result counts even if it wrapped.
fn compared_integer(value: Value, expr: &Expr) -> Result<i128, EvaluationError> {
    if let (ExprKind::Convert(inner), Value::Int { value, exact: Some(exact) }) =
        (&expr.kind, value)
        && let (Type::Int { bits: from, .. }, Type::Int { bits: to, .. }) = (inner.ty, expr.ty)
        && from == to
        && inner.ty.holds(exact)
    {
        return Ok(value);
    }
    used_integer(value, expr)
}

/// Checks the index of a fetch from a texture. A run has no textures, so the fetch itself has no value.
fn fetch(name: &str, arguments: &[Expr], env: &impl Environment) -> Result<Value, EvaluationError> {
    for argument in arguments.iter().filter(|_| name == FETCH_OF_INDEX) {
        used_integer(evaluate(argument, env, true)?, argument)?;
    }
    Ok(Value::Undefined)
}

/// Evaluates a mathematical function of floats.
fn call(
    name: &str,
    arguments: &[Expr],
    env: &impl Environment,
    strict: bool,
) -> Result<Value, EvaluationError> {
    let mut values = [Real::exact(0.0); 3];
    for (slot, argument) in values.iter_mut().zip(arguments) {
        *slot = match evaluate(argument, env, strict)? {
            Value::Float(value) => value,
            _ => return Err(EvaluationError::Undefined),
        };
    }
    let doubles = values.map(Real::value);
    let value = function(name, doubles);
    let result = rounding::function(name, values, value, env.precision());
    match env.compiled().map(|arithmetic| arithmetic.function(name, doubles, value)) {
        Some(None) => Err(EvaluationError::Undefined),
        Some(Some(moved)) => Ok(Value::Float(result.moved_to(moved))),
        None => Ok(Value::Float(result)),
    }
}

fn quantified(
    quantifier: Quantifier,
    vars: &[VarId],
    body: &Expr,
    env: &impl Environment,
) -> Result<Value, EvaluationError> {
    let wanted = quantifier == Quantifier::Exists;
    let mut found = false;
    for_each_assignment(vars, body, wanted, env.as_dyn(), &mut |vars| {
        let env = BoundVariables { outer: env.as_dyn(), vars };
        found |= truth(body, &env)? == wanted;
        Ok(!found)
    })?;
    Ok(Value::int(i128::from(found == wanted)))
}

fn convert(
    inner: &Expr,
    ty: Type,
    env: &impl Environment,
    strict: bool,
) -> Result<Value, EvaluationError> {
    let from = inner.ty;
    let value = evaluate(inner, env, strict)?;
    if let (Value::Float(float), Type::Int { .. } | Type::Whole | Type::Bool) = (value, ty) {
        return truncate(float, ty, env);
    }
    if let Some(arithmetic) = env.compiled() {
        return compiled_conversion(value, (from, ty), (arithmetic, env.precision()), inner);
    }
    match (value, ty) {
        (Value::Int { value, .. }, Type::Float) => {
            Ok(Value::Float(rounding::of_integer(value, env.precision())))
        }
        (Value::Int { value, exact }, Type::Int { bits: to, .. }) => {
            // A signed number that wrapped in arithmetic stays one.
            let is_defined =
                exact == Some(value) || matches!(from, Type::Int { signed: false, .. });
            if env.conversions_wrap() && is_defined {
                return Ok(Value::int(ty.wrap(value)));
            }
            let widens = matches!(from, Type::Int { bits, .. } if bits < to) || from == Type::Bool;
            if widens && exact != Some(value) {
                if !strict {
                    return Ok(Value::int(ty.wrap(value)));
                }
                used_integer(Value::Int { value, exact }, inner)?;
            }
            Ok(Value::Int { value: ty.wrap(value), exact })
        }
        (Value::Int { .. }, Type::Whole | Type::Bool) => {
            Ok(Value::int(used_integer(value, inner)?))
        }
        (Value::Float(_), _) => Ok(value),
        (Value::Undefined, _) => Err(EvaluationError::Undefined),
    }
}

/// Converts a float to an integer. One that its type does not have is undefined in C++.
fn truncate(real: Real, ty: Type, env: &impl Environment) -> Result<Value, EvaluationError> {
    let number = match (rounding::truncate(real, ty), env.rounding()) {
        (Truncated::Number(number), _) => Some(number),
        (Truncated::OutOfRange, _) => None,
        (Truncated::Undecided(number), Some(notes)) => {
            notes.note_decision();
            number
        }
        (Truncated::Undecided(_), None) => return Err(EvaluationError::Rounded),
    };
    number.map(Value::int).ok_or(EvaluationError::Undefined)
}

fn unary(
    operator: Unary,
    inner: &Expr,
    expr: &Expr,
    env: &impl Environment,
    strict: bool,
) -> Result<Value, EvaluationError> {
    match (operator, evaluate(inner, env, strict)?) {
        (Unary::Neg, Value::Float(value)) => Ok(Value::Float(rounding::negated(value))),
        (Unary::Neg, right @ Value::Int { .. }) => {
            let result = integer_binary(Binary::Sub, Value::int(0), right, expr, strict)?;
            Ok(if env.compiled().is_some() { keep_unsigned_wrap(result, expr.ty) } else { result })
        }
        // `~x` is the number of all ones minus `x`, in every width: an unsigned one does not wrap.
        (Unary::Complement, right @ Value::Int { .. }) => {
            let ones = match expr.ty {
                Type::Int { bits, signed: false } => (1 << bits) - 1,
                _ => -1,
            };
            let result = integer_binary(Binary::Sub, Value::int(ones), right, expr, false)?;
            Ok(if env.compiled().is_some() { keep_unsigned_wrap(result, expr.ty) } else { result })
        }
        (Unary::Not, value) => Ok(Value::int(i128::from(used_integer(value, inner)? == 0))),
        (Unary::Pow2, value) => match used_integer(value, inner)? {
            power @ 0..=100 => Ok(Value::int(1 << power)),
            _ => Err(EvaluationError::Undefined),
        },
        (Unary::LowBit, value) => {
            let value = used_integer(value, inner)?;
            Ok(Value::int(value & value.wrapping_neg()))
        }
        (Unary::IsPow2, value) => {
            let value = used_integer(value, inner)?;
            Ok(Value::int(i128::from(value > 0 && value & (value - 1) == 0)))
        }
        _ => Err(EvaluationError::Undefined),
    }
}
