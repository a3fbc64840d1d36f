//! Lists float operations of a kernel that are not defined everywhere over the reals, with their requirements.
//!
//! The algebra of values is total: `1/x − 1/x` is 0 in it and `0·√x` too, for every `x`. So a proof about values
//! holds where every such operation of the kernel is defined. This module lists them, except those whose operands are
//! proved to be valid by their signs: literals, `e^x`, squares, absolute values, and sums and products of these. A
//! variable that is assigned once has the sign of its value. Errs towards listing: elements, parameters and variables
//! of loops have any sign.

use crate::{Binary, Expr, ExprKind, Kernel, Stmt, Type, Unary, VarId, each_expr, visit};
use base::{Index, Span};
use std::fmt;

/// Depth to which definitions are followed for a sign.
const MAX_DEPTH: usize = 32;

/// The requirement of an operation on its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// A divisor other than zero.
    Divisor,
    /// An argument that is not negative, of this function.
    NotNegative(&'static str),
    /// A positive argument of this function.
    Positive(&'static str),
    /// `log1p` of more than −1.
    AboveMinusOne,
    /// An argument from −1 to 1 of this function.
    WithinOne(&'static str),
    /// An argument of `tan` where the cosine is not zero.
    NotAPole,
    /// A base and an exponent for which `pow` is a real number.
    Power,
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divisor => f.write_str("the divisor is not 0"),
            Self::NotNegative(name) => write!(f, "the argument of `{name}` is not negative"),
            Self::Positive(name) => write!(f, "the argument of `{name}` is positive"),
            Self::AboveMinusOne => f.write_str("the argument of `log1p` is above -1"),
            Self::WithinOne(name) => write!(f, "the argument of `{name}` is from -1 to 1"),
            Self::NotAPole => f.write_str("the cosine of the argument of `tan` is not 0"),
            Self::Power => f.write_str("`pow` of these is a real number"),
        }
    }
}

/// An operation that is not defined everywhere over the reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partial {
    /// Its span.
    pub span: Span,
    /// Its requirement.
    pub demand: Demand,
    /// Set if its operands are known never to satisfy the demand.
    pub is_never_defined: bool,
}

/// The float operations of a kernel that are not proved to be defined wherever they are executed, in source order and
/// once each.
#[must_use]
pub fn operations(kernel: &Kernel) -> Vec<Partial> {
    let signs = Signs::new(kernel);
    let mut found: Vec<Partial> = Vec::new();
    let mut look = |expr: &Expr| {
        visit(expr, &mut |inner| {
            let Some((demand, shown)) = signs.demand(inner) else { return };
            let partial = Partial {
                span: inner.span,
                demand,
                is_never_defined: shown == RequirementStatus::Never,
            };
            if shown != RequirementStatus::Always && !found.contains(&partial) {
                found.push(partial);
            }
        });
    };
    each_expr(&kernel.body, &mut look);
    kernel.ensures.iter().for_each(|claim| look(&claim.condition));
    for contract in &kernel.contracts {
        for one in operations(&contract.kernel) {
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
    found.sort_by_key(|one| one.span.start);
    found
}

/// Operations that are never defined, each as an open claim (its place and its text). A kernel with such an operation
/// has no real values to compare.
pub fn never_defined(kernel: &Kernel) -> impl Iterator<Item = (Span, String)> {
    let never = operations(kernel).into_iter().filter(|operation| operation.is_never_defined);
    never.map(|one| (one.span, format!("that {}, which never holds", one.demand)))
}

/// The possible signs of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sign {
    negative: bool,
    zero: bool,
    positive: bool,
}

impl Sign {
    const ANY: Self = Self { negative: true, zero: true, positive: true };
    const NOT_NEGATIVE: Self = Self { negative: false, ..Self::ANY };
    const POSITIVE: Self = Self { zero: false, ..Self::NOT_NEGATIVE };

    fn of(value: f64) -> Self {
        match value.partial_cmp(&0.0) {
            _ if !value.is_finite() => Self::ANY,
            Some(order) => {
                Self { negative: order.is_lt(), zero: order.is_eq(), positive: order.is_gt() }
            }
            None => Self::ANY,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            negative: self.negative || other.negative,
            zero: self.zero || other.zero,
            positive: self.positive || other.positive,
        }
    }

    fn negated(self) -> Self {
        Self { negative: self.positive, positive: self.negative, ..self }
    }

    fn plus(self, other: Self) -> Self {
        let opposite = self.negative && other.positive || self.positive && other.negative;
        Self {
            negative: self.negative || other.negative,
            zero: opposite || self.zero && other.zero,
            positive: self.positive || other.positive,
        }
    }

    fn times(self, other: Self) -> Self {
        Self {
            negative: self.negative && other.positive || self.positive && other.negative,
            zero: self.zero || other.zero,
            positive: self.positive && other.positive || self.negative && other.negative,
        }
    }

    /// The possible signs of the maximum of two values.
    fn greater(self, other: Self) -> Self {
        Self {
            negative: self.negative && other.negative,
            zero: self.zero && (other.zero || other.negative) || other.zero && self.negative,
            positive: self.positive || other.positive,
        }
    }

    fn magnitude(self) -> Self {
        Self { negative: false, zero: self.zero, positive: self.negative || self.positive }
    }
}

/// For which operands a requirement is satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequirementStatus {
    Always,
    Sometimes,
    Never,
}

impl RequirementStatus {
    /// The status, if valid operands are possible (`good`) and invalid ones are (`bad`).
    fn of(good: bool, bad: bool) -> Self {
        match (good, bad) {
            (_, false) => Self::Always,
            (false, true) => Self::Never,
            (true, true) => Self::Sometimes,
        }
    }
}

/// The signs of a kernel's values.
struct Signs<'k> {
    /// The value of each variable that is assigned once.
    once: Vec<Option<&'k Expr>>,
}

impl<'k> Signs<'k> {
    fn new(kernel: &'k Kernel) -> Self {
        let mut writes = vec![0_u32; kernel.vars.len()];
        let mut once = vec![None; kernel.vars.len()];
        // The launch writes parameters.
        kernel.scalars.iter().for_each(|var| writes[var.position()] += 1);
        each_write(&kernel.body, &mut |var: VarId, value| {
            writes[var.position()] += 1;
            once[var.position()] = value;
        });
        for (value, count) in once.iter_mut().zip(writes) {
            *value = value.filter(|_| count == 1);
        }
        Self { once }
    }

    /// Returns the requirement of an operation, and for which operands it is satisfied.
    fn demand(&self, expr: &Expr) -> Option<(Demand, RequirementStatus)> {
        if expr.ty != Type::Float {
            return None;
        }
        let sign = |of: &Expr| self.sign(of, MAX_DEPTH);
        let divisor = |of: &Expr| {
            let Sign { negative, zero, positive } = sign(of);
            Some((Demand::Divisor, RequirementStatus::of(negative || positive, zero)))
        };
        match &expr.kind {
            ExprKind::Binary(Binary::Div | Binary::Rem, _, right) => divisor(right),
            ExprKind::Call("fdivide" | "fmod", arguments) => divisor(arguments.get(1)?),
            ExprKind::Call(name @ "sqrt", arguments) => {
                let Sign { negative, zero, positive } = sign(arguments.first()?);
                Some((Demand::NotNegative(name), RequirementStatus::of(zero || positive, negative)))
            }
            ExprKind::Call(name @ ("rsqrt" | "log" | "log2" | "log10"), arguments) => {
                let Sign { negative, zero, positive } = sign(arguments.first()?);
                Some((Demand::Positive(name), RequirementStatus::of(positive, negative || zero)))
            }
            ExprKind::Call("log1p", arguments) => {
                let argument = arguments.first()?;
                let shown = match constant(argument) {
                    Some(value) => RequirementStatus::of(value > -1.0, value <= -1.0),
                    None => RequirementStatus::of(true, sign(argument).negative),
                };
                Some((Demand::AboveMinusOne, shown))
            }
            ExprKind::Call(name @ ("asin" | "acos"), arguments) => {
                let argument = arguments.first()?;
                let within = |name: &str| matches!(name, "sin" | "cos" | "tanh");
                let shown = match (constant(argument), &argument.kind) {
                    (Some(value), _) => {
                        RequirementStatus::of(value.abs() <= 1.0, value.abs() > 1.0)
                    }
                    (None, ExprKind::Call(inner, _)) if within(inner) => RequirementStatus::Always,
                    (None, _) => RequirementStatus::Sometimes,
                };
                Some((Demand::WithinOne(name), shown))
            }
            ExprKind::Call("tan", arguments) => {
                // Poles are multiples of π, which no literal is.
                let shown = match constant(arguments.first()?) {
                    Some(_) => RequirementStatus::Always,
                    None => RequirementStatus::Sometimes,
                };
                Some((Demand::NotAPole, shown))
            }
            ExprKind::Call("pow", arguments) => {
                let [base, exponent] = &arguments[..] else { return None };
                Some((Demand::Power, power(sign(base), exponent)))
            }
            _ => None,
        }
    }

    /// The possible signs of a value where it is defined.
    fn sign(&self, expr: &Expr, depth: usize) -> Sign {
        let Some(depth) = depth.checked_sub(1) else { return Sign::ANY };
        if let Some(value) = constant(expr) {
            return Sign::of(value);
        }
        let sign = |of: &Expr| self.sign(of, depth);
        match &expr.kind {
            ExprKind::Var(var) => match (self.once[var.position()], expr.ty) {
                (Some(value), Type::Float) => sign(value),
                (_, Type::Int { signed: false, .. }) => Sign::NOT_NEGATIVE,
                _ => Sign::ANY,
            },
            ExprKind::Convert(inner) => match (inner.ty, expr.ty) {
                (Type::Float, Type::Float) => sign(inner),
                (Type::Int { signed: false, .. }, Type::Float) => Sign::NOT_NEGATIVE,
                _ => Sign::ANY,
            },
            _ if expr.ty != Type::Float => Sign::ANY,
            ExprKind::Unary(Unary::Neg, inner) => sign(inner).negated(),
            ExprKind::Binary(operator, left, right) => {
                let (one, two) = (sign(left), sign(right));
                match operator {
                    Binary::Add => one.plus(two),
                    Binary::Sub => one.plus(two.negated()),
                    Binary::Mul if same_variable(left, right) => one.magnitude(),
                    Binary::Mul => one.times(two),
                    // Where it is defined, the divisor is not zero.
                    Binary::Div => one.times(Sign { zero: false, ..two }),
                    Binary::Max => one.greater(two),
                    Binary::Min => one.negated().greater(two.negated()).negated(),
                    _ => Sign::ANY,
                }
            }
            ExprKind::Select(_, then, otherwise) => sign(then).or(sign(otherwise)),
            ExprKind::Call(name, arguments) => call(name, arguments, &sign),
            _ => Sign::ANY,
        }
    }
}

/// The possible signs of a function's result.
fn call(name: &str, arguments: &[Expr], sign: &dyn Fn(&Expr) -> Sign) -> Sign {
    match (name, arguments) {
        ("exp" | "exp2" | "exp10" | "cosh" | "rsqrt", _) => Sign::POSITIVE,
        ("fabs" | "sqrt", [inner]) => sign(inner).magnitude(),
        ("hypot", _) => Sign::NOT_NEGATIVE,
        ("fmax", [one, two]) => sign(one).greater(sign(two)),
        ("fmin", [one, two]) => sign(one).negated().greater(sign(two).negated()).negated(),
        ("fma", [one, two, three]) if same_variable(one, two) => {
            sign(one).magnitude().plus(sign(three))
        }
        ("fma", [one, two, three]) => sign(one).times(sign(two)).plus(sign(three)),
        ("pow", [base, _]) if sign(base) == Sign::POSITIVE => Sign::POSITIVE,
        _ => Sign::ANY,
    }
}

/// Decides for which values `pow` of a base with these signs and of this exponent is defined.
fn power(base: Sign, exponent: &Expr) -> RequirementStatus {
    match constant(exponent) {
        Some(value) if value.fract() == 0.0 && value >= 0.0 => RequirementStatus::Always,
        Some(value) if value.fract() == 0.0 => {
            RequirementStatus::of(base.negative || base.positive, base.zero)
        }
        Some(value) if value > 0.0 => {
            RequirementStatus::of(base.zero || base.positive, base.negative)
        }
        // A negative base may have a whole exponent.
        _ => RequirementStatus::of(true, base.negative || base.zero),
    }
}

/// The value of a literal.
#[expect(clippy::cast_precision_loss, reason = "only signs and small numbers are looked at")]
fn constant(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Float(value) => Some(*value),
        ExprKind::Int(value) => Some(*value as f64),
        ExprKind::Convert(inner) if expr.ty == Type::Float => constant(inner),
        ExprKind::Unary(Unary::Neg, inner) if expr.ty == Type::Float => {
            constant(inner).map(|value| -value)
        }
        _ => None,
    }
}

/// Returns `true` if both are the same variable, so that their product is a square.
fn same_variable(one: &Expr, other: &Expr) -> bool {
    matches!((&one.kind, &other.kind), (ExprKind::Var(a), ExprKind::Var(b)) if a == b)
}

/// Calls `see` for each write of a variable, with the value if it is an expression.
fn each_write<'k>(statements: &'k [Stmt], see: &mut impl FnMut(VarId, Option<&'k Expr>)) {
    for statement in statements {
        match statement {
            Stmt::Assign(var, value) => see(*var, Some(value)),
            Stmt::Load(var, _)
            | Stmt::Unknown(var)
            | Stmt::Bits(var, ..)
            | Stmt::Atomic { result: var, .. } => see(*var, None),
            Stmt::If(_, then, otherwise) => {
                each_write(then, see);
                each_write(otherwise, see);
            }
            Stmt::Loop(inner) => {
                for part in [&inner.head, &inner.body, &inner.step] {
                    each_write(part, see);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_results_hold_for_all_operands() {
        let within = |one: Sign, other: Sign| one.or(other) == other;
        let numbers = [-2.0, -1.0, 0.0, 1.0, 3.0];
        for x in numbers {
            for y in numbers {
                let (one, other) = (Sign::of(x), Sign::of(y));
                assert!(within(Sign::of(x + y), one.plus(other)), "{x} + {y}");
                assert_eq!(Sign::of(x * y), one.times(other), "{x} * {y}");
                assert_eq!(Sign::of(x.max(y)), one.greater(other), "{x} max {y}");
                // The same for sets of signs.
                let any = one.or(other);
                assert!(within(Sign::of(x.max(y)), any.greater(any)), "{x} {y}");
                assert!(within(Sign::of(x * y), any.times(any)), "{x} {y}");
                assert!(within(Sign::of(x + y), any.plus(any)), "{x} {y}");
            }
            assert_eq!(Sign::of(-x), Sign::of(x).negated());
            assert_eq!(Sign::of(x.abs()), Sign::of(x).magnitude());
        }
    }
}
