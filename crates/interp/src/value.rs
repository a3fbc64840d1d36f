//! Values and expressions of one thread.
//!
//! An integer carries, beside its value, its exact value without wrapping. If the two differ and the value is *used*
//! (compared, divided, shifted right, widened, used as an index), unbounded integers no longer model it: that is the
//! overflow which `engine` proves absent. In expressions that feed indices or conditions, a signed operation that
//! leaves its type is an overflow at once, because C leaves it undefined.
//!
//! Long: one case for each operation, with its exactness.

use crate::arithmetic::Arithmetic;
use crate::quantifiers::{Bound, apply_monoid, assignments, evaluate_fold};
use base::Span;
use kir::{
    ArrayId, Binary, Builtin, Compare, Expr, ExprKind, FETCH_OF_INDEX, Quantifier, Type, Unary,
    VarId, When, is_fetch,
};

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer or truth value, and its exact value without wrapping.
    Int {
        /// The machine's value.
        value: i128,
        /// The exact value; `None` if it is too large to represent.
        exact: Option<i128>,
    },
    /// A floating-point number.
    Float(f64),
    /// Nothing was assigned.
    Undefined,
}

impl Value {
    /// An integer.
    pub fn int(value: i128) -> Self {
        Self::Int { value, exact: Some(value) }
    }

    /// The machine's integer.
    #[must_use]
    pub fn number(self) -> Option<i128> {
        match self {
            Self::Int { value, .. } => Some(value),
            Self::Float(_) | Self::Undefined => None,
        }
    }
}

/// The reason why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trouble {
    /// Out of its type, or wrapped and used.
    Overflow {
        /// The operation.
        span: Span,
        /// The type of its result.
        ty: Type,
        /// Its result as an integer without bounds, if it fits here.
        exact: Option<i128>,
    },
    /// A division by zero at this place.
    DivisionByZero(Span),
    /// It depends on an undefined value.
    Undefined,
    /// A shift by a negative amount or by more than the width.
    Shift(Span),
}

/// The environment in which expressions are evaluated.
pub trait Environment {
    /// The value of a variable.
    fn var(&self, var: VarId) -> Value;
    /// The value of a built-in; `None` if the environment has no thread.
    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128>;
    /// An element, in annotations.
    fn element(&self, array: ArrayId, when: When, index: [i128; 3]) -> Value;
    /// Do floats stand for real numbers, so that rounding does not matter, and integers for the machine's?
    fn is_rough(&self) -> bool {
        false
    }
    /// The arithmetic of compiled code, if it is modelled.
    fn compiled(&self) -> Option<&Arithmetic> {
        None
    }
    /// The environment of the other thread of a pair.
    fn other(&self) -> Option<&dyn Environment> {
        None
    }
    /// Variables of enclosing quantifiers and folds, which all threads share.
    fn bound(&self) -> Vec<(VarId, i128)> {
        Vec::new()
    }
    /// Returns this environment as a trait object, so that environments can be nested.
    fn as_dyn(&self) -> &dyn Environment;
}

/// Evaluates `expr`; `strict` if it feeds an index or a condition.
pub fn evaluate(expr: &Expr, env: &impl Environment, strict: bool) -> Result<Value, Trouble> {
    let ty = expr.ty;
    let value = match &expr.kind {
        ExprKind::Int(value) => Value::int(*value),
        ExprKind::Float(value) => {
            Value::Float(env.compiled().map_or(*value, |own| own.constant(*value)))
        }
        ExprKind::Var(var) => env.var(*var),
        ExprKind::Builtin(builtin, axis) => {
            env.builtin(*builtin, *axis).map_or(Value::Undefined, Value::int)
        }
        ExprKind::Unary(operator, inner) => unary(*operator, inner, expr, env, strict)?,
        ExprKind::Binary(operator, left, right) => {
            let (left, right) = (evaluate(left, env, strict)?, evaluate(right, env, strict)?);
            match (left, right) {
                (Value::Float(left), Value::Float(right)) => {
                    let result = float_binary(*operator, left, right);
                    let own = env.compiled();
                    Value::Float(
                        own.map_or(result, |own| own.binary(*operator, left, right, result)),
                    )
                }
                _ if env.compiled().is_some() => {
                    compiled_integer_binary(*operator, left, right, expr, strict)?
                }
                _ => integer_binary(*operator, left, right, expr, strict)?,
            }
        }
        ExprKind::Compare(operator, left, right) => {
            let (one, other) = (evaluate(left, env, strict)?, evaluate(right, env, strict)?);
            let equation = matches!(operator, Compare::Eq | Compare::Ne);
            let result = match (one, other) {
                (Value::Float(one), Value::Float(other)) if env.is_rough() => {
                    roughly(*operator, one, other)?
                }
                (Value::Float(one), Value::Float(other)) => {
                    compared(*operator, one.partial_cmp(&other))
                }
                // An equation of a machine type compares the machine's values.
                (Value::Int { value: one, .. }, Value::Int { value: other, .. })
                    if env.is_rough() && equation && matches!(left.ty, Type::Int { .. }) =>
                {
                    compared(*operator, Some(one.cmp(&other)))
                }
                _ => {
                    let (one, other) = (looked_at(one, left)?, looked_at(other, right)?);
                    compared(*operator, Some(one.cmp(&other)))
                }
            };
            Value::int(i128::from(result))
        }
        ExprKind::And(left, right) | ExprKind::Or(left, right) => {
            let stops = matches!(expr.kind, ExprKind::Or(..));
            match truth(left, env)? {
                first if first == stops => Value::int(i128::from(first)),
                _ => Value::int(i128::from(truth(right, env)?)),
            }
        }
        ExprKind::Select(condition, then, otherwise) => {
            let chosen = if truth(condition, env)? { then } else { otherwise };
            evaluate(chosen, env, strict)?
        }
        ExprKind::Convert(inner) => convert(inner, ty, env, strict)?,
        ExprKind::Call(name, arguments) if is_fetch(name) => {
            for argument in arguments.iter().filter(|_| *name == FETCH_OF_INDEX) {
                looked_at(evaluate(argument, env, true)?, argument)?;
            }
            Value::Undefined
        }
        ExprKind::Call(name, arguments) => {
            let mut values = [0.0; 3];
            for (slot, argument) in values.iter_mut().zip(arguments) {
                *slot = match evaluate(argument, env, strict)? {
                    Value::Float(value) => value,
                    _ => return Err(Trouble::Undefined),
                };
            }
            let result = function(name, values);
            match env.compiled().map(|own| own.function(name, values, result)) {
                Some(None) => return Err(Trouble::Undefined),
                Some(Some(result)) => Value::Float(result),
                None => Value::Float(result),
            }
        }
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
                *slot = looked_at(evaluate(one, env, true)?, one)?;
            }
            env.element(*array, *when, at)
        }
        ExprKind::Quantified(quantifier, vars, body) => {
            let wanted = *quantifier == Quantifier::Exists;
            let mut found = false;
            assignments(vars, body, wanted, env.as_dyn(), &mut |vars| {
                let env = Bound { outer: env.as_dyn(), vars };
                found |= truth(body, &env)? == wanted;
                Ok(!found)
            })?;
            Value::int(i128::from(found == wanted))
        }
        ExprKind::Fold(fold) => evaluate_fold(fold, ty, env.as_dyn(), strict)?,
        ExprKind::Other(inner) => match env.other() {
            Some(other) => {
                let vars = env.bound();
                evaluate(inner, &Bound { outer: other, vars: &vars }, strict)?
            }
            None => return Err(Trouble::Undefined),
        },
    };
    Ok(value)
}

/// The truth of a condition.
pub fn truth(expr: &Expr, env: &impl Environment) -> Result<bool, Trouble> {
    Ok(looked_at(evaluate(expr, env, true)?, expr)? != 0)
}

/// The integer of a value that is used.
pub fn looked_at(value: Value, expr: &Expr) -> Result<i128, Trouble> {
    match value {
        Value::Int { value, exact } if exact == Some(value) => Ok(value),
        Value::Int { exact, .. } => Err(Trouble::Overflow { span: expr.span, ty: expr.ty, exact }),
        Value::Float(_) | Value::Undefined => Err(Trouble::Undefined),
    }
}

fn convert(inner: &Expr, ty: Type, env: &impl Environment, strict: bool) -> Result<Value, Trouble> {
    let from = inner.ty;
    let value = evaluate(inner, env, strict)?;
    if let Some(own) = env.compiled() {
        return compiled_conversion(value, (from, ty), own, inner);
    }
    match (value, ty) {
        #[expect(clippy::cast_precision_loss, reason = "that is what the conversion does")]
        (Value::Int { value, .. }, Type::Float) => Ok(Value::Float(value as f64)),
        #[expect(clippy::cast_possible_truncation, reason = "it saturates, as the hardware does")]
        (Value::Float(float), Type::Int { .. } | Type::Whole | Type::Bool) => {
            Ok(Value::int(ty.wrap(i128::from(float as i64))))
        }
        (Value::Int { value, exact }, Type::Int { bits: to, .. }) => {
            let widens = matches!(from, Type::Int { bits, .. } if bits < to) || from == Type::Bool;
            if widens && exact != Some(value) {
                if !strict {
                    return Ok(Value::int(ty.wrap(value)));
                }
                looked_at(Value::Int { value, exact }, inner)?;
            }
            Ok(Value::Int { value: ty.wrap(value), exact })
        }
        (Value::Int { .. }, Type::Whole | Type::Bool) => Ok(Value::int(looked_at(value, inner)?)),
        (Value::Float(_), Type::Float) => Ok(value),
        (Value::Undefined, _) => Err(Trouble::Undefined),
    }
}

/// A conversion in C++: integers wrap into their type.
fn compiled_conversion(
    value: Value,
    (from, ty): (Type, Type),
    own: &Arithmetic,
    inner: &Expr,
) -> Result<Value, Trouble> {
    match (value, ty) {
        // A signed sum that wrapped may be narrowed; widening uses its value.
        (Value::Int { value, exact }, Type::Int { bits: to, .. }) => {
            let narrows = matches!(from, Type::Int { bits, .. } if bits >= to);
            if exact != Some(value) && !narrows {
                return Err(Trouble::Undefined);
            }
            Ok(Value::int(ty.wrap(value)))
        }
        (Value::Int { value, exact }, Type::Float) if exact == Some(value) =>
        {
            #[expect(clippy::cast_precision_loss, reason = "that is what the conversion does")]
            Ok(Value::Float(own.constant(value as f64)))
        }
        (Value::Int { .. }, Type::Whole | Type::Bool) => Ok(Value::int(looked_at(value, inner)?)),
        (Value::Float(float), Type::Int { .. } | Type::Whole | Type::Bool) => {
            let ty = if ty == Type::Whole { Type::LONG } else { ty };
            Arithmetic::truncated(float, ty)
        }
        (Value::Float(_), Type::Float) => Ok(value),
        (Value::Int { .. }, Type::Float) | (Value::Undefined, _) => Err(Trouble::Undefined),
    }
}

/// An integer operation in C++: a signed number that wrapped can only be an operand of additions and multiplications.
fn compiled_integer_binary(
    operator: Binary,
    left: Value,
    right: Value,
    expr: &Expr,
    strict: bool,
) -> Result<Value, Trouble> {
    let ring = matches!(operator, Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl);
    let open = |value: Value| matches!(value, Value::Int { value, exact } if exact != Some(value));
    if !strict
        && (!ring && open(left) || operator == Binary::Shl && open(right) || !ring && open(right))
    {
        return Err(Trouble::Undefined);
    }
    let done = integer_binary(operator, left, right, expr, strict)?;
    // The minimum divided by −1 is undefined, and compilers differ on it.
    if operator == Binary::Div && open(done) {
        return Err(Trouble::Undefined);
    }
    Ok(defined(done, expr.ty))
}

/// An unsigned number keeps its wrapped value: C++ defines it.
fn defined(value: Value, ty: Type) -> Value {
    match (value, ty) {
        (Value::Int { value, .. }, Type::Int { signed: false, .. }) => Value::int(value),
        _ => value,
    }
}

fn unary(
    operator: Unary,
    inner: &Expr,
    expr: &Expr,
    env: &impl Environment,
    strict: bool,
) -> Result<Value, Trouble> {
    match (operator, evaluate(inner, env, strict)?) {
        (Unary::Neg, Value::Float(value)) => Ok(Value::Float(-value)),
        (Unary::Neg, right @ Value::Int { .. }) => {
            let done = integer_binary(Binary::Sub, Value::int(0), right, expr, strict)?;
            Ok(if env.compiled().is_some() { defined(done, expr.ty) } else { done })
        }
        // `~x` is `-1 - x`, in every width.
        (Unary::Complement, right @ Value::Int { .. }) => {
            let done = integer_binary(Binary::Sub, Value::int(-1), right, expr, false)?;
            Ok(if env.compiled().is_some() { defined(done, expr.ty) } else { done })
        }
        (Unary::Not, value) => Ok(Value::int(i128::from(looked_at(value, inner)? == 0))),
        (Unary::Pow2, value) => match looked_at(value, inner)? {
            power @ 0..=100 => Ok(Value::int(1 << power)),
            _ => Err(Trouble::Undefined),
        },
        (Unary::LowBit, value) => {
            let value = looked_at(value, inner)?;
            Ok(Value::int(value & value.wrapping_neg()))
        }
        (Unary::IsPow2, value) => {
            let value = looked_at(value, inner)?;
            Ok(Value::int(i128::from(value > 0 && value & (value - 1) == 0)))
        }
        _ => Err(Trouble::Undefined),
    }
}

pub(crate) fn integer_binary(
    operator: Binary,
    left: Value,
    right: Value,
    expr: &Expr,
    strict: bool,
) -> Result<Value, Trouble> {
    let (Value::Int { value: a, exact: ea }, Value::Int { value: b, exact: eb }) = (left, right)
    else {
        return Err(Trouble::Undefined);
    };
    let ty = expr.ty;
    if matches!(operator, Binary::BitAnd | Binary::BitOr | Binary::BitXor) {
        // Bits of the machine's value; its exact value no longer matters.
        let value = apply(operator, a, b, expr)?.unwrap_or(0);
        return Ok(Value::int(ty.wrap(value)));
    }
    // Sums and products are the same modulo the width; other operations use their operands.
    let ring = matches!(operator, Binary::Add | Binary::Sub | Binary::Mul);
    let constant_shift = operator == Binary::Shl;
    // A number that feeds only data may wrap; its machine value counts.
    let divides = matches!(operator, Binary::Div | Binary::Rem);
    let ea = if !ring && !strict && !constant_shift { Some(a) } else { ea };
    let eb = if !ring && !strict && !divides { Some(b) } else { eb };
    if !ring && (ea != Some(a) && !constant_shift || eb != Some(b)) {
        let exact = if ea == Some(a) { eb } else { ea };
        return Err(Trouble::Overflow { span: expr.span, ty, exact });
    }
    let (Some(x), Some(y)) = (ea, eb) else {
        let value = ty.wrap(ring_wrapped(operator, a, b));
        return Ok(Value::Int { value, exact: None });
    };
    let exact = apply(operator, x, y, expr)?;
    let fits = match exact {
        Some(exact) => ty.holds(exact),
        None => ty.range().is_none(),
    };
    let signed = matches!(ty, Type::Int { signed: true, .. });
    if strict && signed && !fits {
        return Err(Trouble::Overflow { span: expr.span, ty, exact });
    }
    let value = match exact {
        Some(exact) => ty.wrap(exact),
        None => ty.wrap(ring_wrapped(operator, a, b)),
    };
    Ok(Value::Int { value, exact })
}

fn ring_wrapped(operator: Binary, a: i128, b: i128) -> i128 {
    match operator {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        _ => a.wrapping_mul(b),
    }
}

/// The exact result; `None` if it is too large to represent.
fn apply(operator: Binary, x: i128, y: i128, expr: &Expr) -> Result<Option<i128>, Trouble> {
    let width = match expr.ty {
        Type::Int { bits, .. } => i128::from(bits),
        _ => 120,
    };
    let shifts = matches!(operator, Binary::Shl | Binary::Shr);
    if shifts && !(0..width).contains(&y) {
        return Err(Trouble::Shift(expr.span));
    }
    Ok(match operator {
        Binary::Add => x.checked_add(y),
        Binary::Sub => x.checked_sub(y),
        Binary::Mul => x.checked_mul(y),
        Binary::Div | Binary::Rem if y == 0 => return Err(Trouble::DivisionByZero(expr.span)),
        Binary::Div => x.checked_div(y),
        Binary::Rem => x.checked_rem(y),
        Binary::Shl => x.checked_mul(1 << y),
        Binary::Shr => Some(x >> y),
        Binary::BitAnd => Some(x & y),
        Binary::BitOr => Some(x | y),
        Binary::BitXor => Some(x ^ y),
        Binary::Min => Some(x.min(y)),
        Binary::Max => Some(x.max(y)),
    })
}

pub(crate) fn float_binary(operator: Binary, x: f64, y: f64) -> f64 {
    match operator {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x / y,
        Binary::Min => x.min(y),
        Binary::Max => x.max(y),
        _ => f64::NAN,
    }
}

fn compared(operator: Compare, order: Option<std::cmp::Ordering>) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match operator {
        Compare::Eq => order == Some(Equal),
        Compare::Ne => order != Some(Equal),
        Compare::Lt => order == Some(Less),
        Compare::Le => matches!(order, Some(Less | Equal)),
        Compare::Gt => order == Some(Greater),
        Compare::Ge => matches!(order, Some(Greater | Equal)),
    }
}

/// Compares real numbers that are approximated by doubles. Close numbers count as equal, and `<` between them is
/// undefined.
fn roughly(operator: Compare, x: f64, y: f64) -> Result<bool, Trouble> {
    if !x.is_finite() || !y.is_finite() {
        return Err(Trouble::Undefined);
    }
    let close = (x - y).abs() <= 1e-6 * (1.0 + x.abs() + y.abs());
    match operator {
        Compare::Eq => Ok(close),
        Compare::Ne => Ok(!close),
        _ if close => Err(Trouble::Undefined),
        _ => Ok(compared(operator, x.partial_cmp(&y))),
    }
}

fn function(name: &str, [x, y, z]: [f64; 3]) -> f64 {
    match name {
        "sqrt" => x.sqrt(),
        "rsqrt" => 1.0 / x.sqrt(),
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "log" => x.ln(),
        "log2" => x.log2(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tanh" => x.tanh(),
        "fabs" => x.abs(),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        "round" => x.round(),
        "rint" => x.round_ties_even(),
        "pow" => x.powf(y),
        "fmin" => x.min(y),
        "fmax" => x.max(y),
        "fma" => x.mul_add(y, z),
        "fdivide" => x / y,
        "cbrt" => x.cbrt(),
        "exp10" => 10_f64.powf(x),
        "expm1" => x.exp_m1(),
        "log10" => x.log10(),
        "log1p" => x.ln_1p(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "trunc" => x.trunc(),
        "atan2" => x.atan2(y),
        "hypot" => x.hypot(y),
        "fmod" => x % y,
        "erf" => libm::erf(x),
        _ => f64::NAN,
    }
}
