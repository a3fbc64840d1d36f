//! Resolves expressions and their types: integers for indices, reals for values, truths for conditions.

use super::{Resolver, as_number, to_real, type_of};
use crate::ast::{Binary, Expression, ExpressionKind, Name, Relation, Unary};
use crate::error::{Error, closest};
use crate::interval::interval;
use crate::resolve::KnownScalar;
use crate::typed::{Arithmetic, Constant, Node, NodeKind, Type, Typed};
use base::Span;
use ir::{Scalar, Width};
use term::Number;

/// Limit on the exponent of an integer power.
const MAX_INTEGER_POWER: i64 = 62;

impl Resolver<'_> {
    /// Resolves an expression and its type.
    pub(super) fn expression(&mut self, expression: &Expression) -> Result<Node, Error> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Number(number, is_real) => {
                let is_integer = !is_real && number.to_i64().is_some();
                let ty = if is_integer { Type::Integer } else { Type::Real };
                Ok(Node { kind: NodeKind::Number(number.clone()), ty, is_data: false, span })
            }
            ExpressionKind::Name(name) => self.name(name, span),
            ExpressionKind::Element { name, indices, outside } => {
                self.element(name, indices, outside.as_deref(), span)
            }
            ExpressionKind::Call { name, arguments } => self.call(name, arguments, span),
            ExpressionKind::Unary(Unary::Negate, a) => self.negation(a, span),
            ExpressionKind::Unary(Unary::Not, a) => {
                let a = self.condition(a)?;
                let is_data = a.is_data;
                Ok(Node { kind: NodeKind::Not(Box::new(a)), ty: Type::Truth, is_data, span })
            }
            ExpressionKind::Binary(operator @ (Binary::And | Binary::Or), a, b) => {
                let (a, b) = (self.condition(a)?, self.condition(b)?);
                let is_data = a.is_data || b.is_data;
                let (a, b) = (Box::new(a), Box::new(b));
                let kind = match operator {
                    Binary::And => NodeKind::And(a, b),
                    _ => NodeKind::Or(a, b),
                };
                Ok(Node { kind, ty: Type::Truth, is_data, span })
            }
            ExpressionKind::Binary(Binary::Power, a, b) => self.power(a, b, span),
            ExpressionKind::Binary(operator, a, b) => self.arithmetic(*operator, a, b, span),
            ExpressionKind::Comparison(first, others) => self.comparison(first, others, span),
            ExpressionKind::If { value, condition, otherwise: Some(otherwise) } => {
                let condition = self.condition(condition)?;
                let (value, otherwise) = (self.expression(value)?, self.expression(otherwise)?);
                let (value, otherwise) = to_common_type(value, otherwise);
                let is_data = condition.is_data || value.is_data || otherwise.is_data;
                let ty = value.ty;
                let [condition, value, otherwise] = [condition, value, otherwise].map(Box::new);
                Ok(Node { kind: NodeKind::If { condition, value, otherwise }, ty, is_data, span })
            }
            ExpressionKind::If { otherwise: None, .. } => Err(Error::new(
                span,
                "`if` without `else` is allowed only inside of sum, max, …; elsewhere write `a if c else b`",
            )),
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Result<Node, Error> {
        let node = |kind, ty, is_data| Ok(Node { kind, ty, is_data, span });
        if let Some((_, index)) = self.scope.iter().find(|(known, _)| known == name) {
            return node(NodeKind::Index(*index), Type::Integer, false);
        }
        if let Some((_, value)) = self.constants.iter().find(|(known, _)| known == name) {
            return Ok(Node { span, ..value.clone() });
        }
        if let Some(array) = self.array(name) {
            let shape = &self.typed.arrays[array].shape;
            let is_one = shape.iter().product::<u64>() == 1;
            if !shape.is_empty() && !is_one {
                let count = shape.len();
                let plural = if count == 1 { "index" } else { "indices" };
                let message = format!("`{name}` is a tensor: give its {count} {plural}");
                return Err(Error::new(span, message));
            }
            let indices = shape.iter().map(|_| Node::integer(0, span)).collect();
            let ty = type_of(self.typed.arrays[array].scalar);
            return node(NodeKind::Element { array, indices, outside: None }, ty, true);
        }
        if let Some(scalar) = self.environment.scalars.iter().find(|scalar| scalar.name == name) {
            return match scalar.value {
                KnownScalar::Integer(value) => Ok(Node::integer(value, span)),
                KnownScalar::Float(value) => {
                    let kind = NodeKind::Float(ir::Format::F64, value.to_bits());
                    node(kind, Type::Real, false)
                }
                KnownScalar::Parameter(ty) => {
                    let position = self.scalar(name, ty);
                    node(NodeKind::Scalar(position), type_of(ty), true)
                }
            };
        }
        let constant = match name {
            "inf" => return node(NodeKind::Infinity, Type::Real, false),
            "pi" => Constant::Pi,
            "e" => Constant::E,
            "log2e" => Constant::Log2E,
            "ln2" => Constant::Ln2,
            _ if name.chars().count() == 1 => {
                let message =
                    format!("`{name}` is not an index here, not an input, and not defined above");
                return Err(Error::new(span, message));
            }
            _ => return Err(self.unknown(name, span)),
        };
        node(NodeKind::Constant(constant), Type::Real, false)
    }

    /// Returns the position of a scalar parameter.
    fn scalar(&mut self, name: &str, ty: Scalar) -> usize {
        let known = self.typed.scalars.iter().position(|(known, _)| known == name);
        known.unwrap_or_else(|| {
            self.typed.scalars.push((name.to_owned(), ty));
            self.typed.scalars.len() - 1
        })
    }

    pub(super) fn unknown(&self, name: &str, span: Span) -> Error {
        let is_output =
            self.environment.tensors.iter().any(|tensor| tensor.is_output && tensor.name == name);
        if is_output {
            let message = format!("`{name}` is an output that is not defined above");
            return Error::new(span, message);
        }
        let tensors = self.environment.tensors.iter().filter(|tensor| tensor.is_input);
        let known = tensors
            .map(|tensor| tensor.name.as_str())
            .chain(self.environment.scalars.iter().map(|scalar| scalar.name.as_str()))
            .chain(self.defined.iter().map(|one| one.0.as_str()))
            .chain(self.scope.iter().map(|one| one.0.as_str()));
        let known = known.filter(|known| *known != name);
        let hint = closest(name, known).map(|name| format!("; did you mean `{name}`?"));
        let hint = hint.unwrap_or_default();
        Error::new(span, format!("`{name}` is not an input and not defined above{hint}"))
    }

    fn element(
        &mut self,
        name: &Name,
        indices: &[Expression],
        outside: Option<&Expression>,
        span: Span,
    ) -> Result<Node, Error> {
        let Some(array) = self.array(&name.text) else {
            let text = &name.text;
            let is_scalar = self.environment.scalars.iter().any(|scalar| scalar.name == *text);
            return Err(match is_scalar || self.scope.iter().any(|(known, _)| known == text) {
                true => Error::new(span, format!("`{text}` is a single number: it has no indices")),
                false => self.unknown(text, name.span),
            });
        };
        let scalar = self.typed.arrays[array].scalar;
        if matches!(scalar, Scalar::Integer { width: Width::B64, signed: false }) {
            let message = format!(
                "`{}` holds u64, which formulas do not read; s64 and u32 are read",
                name.text
            );
            return Err(Error::new(span, message));
        }
        let rank = self.typed.arrays[array].shape.len();
        if rank != indices.len() {
            let plural = if rank == 1 { "" } else { "s" };
            let message = format!(
                "`{}` has {rank} dimension{plural}, {} given",
                name.text,
                if indices.len() == 1 {
                    "one index is".to_owned()
                } else {
                    format!("{} indices are", indices.len())
                }
            );
            return Err(Error::new(span, message));
        }
        let indices: Vec<Node> =
            indices.iter().map(|index| self.integer(index)).collect::<Result<_, _>>()?;
        let ty = type_of(self.typed.arrays[array].scalar);
        let outside = match outside.map(|one| self.expression(one)).transpose()? {
            Some(node) if node.ty == Type::Integer && ty == Type::Real => Some(to_real(node)),
            Some(node) if node.ty != ty => {
                let message = format!(
                    "`{}` holds integers; the value outside must be an integer, too",
                    name.text
                );
                return Err(Error::new(node.span, message));
            }
            node => node,
        };
        let kind = NodeKind::Element { array, indices, outside: outside.map(Box::new) };
        Ok(Node { kind, ty, is_data: true, span })
    }

    /// Resolves an expression that must be an integer.
    pub(super) fn integer(&mut self, expression: &Expression) -> Result<Node, Error> {
        let node = self.expression(expression)?;
        let message = match node.ty {
            Type::Integer => return Ok(node),
            Type::Truth => "a condition is not an integer",
            Type::Real if matches!(expression.kind, ExpressionKind::Binary(Binary::Divide, ..)) => {
                "an index must be an integer; `//` divides integers and rounds down"
            }
            Type::Real => "an index must be an integer",
        };
        Err(Error::new(node.span, message))
    }

    /// Resolves an expression that must be a number.
    pub(super) fn numeric(&mut self, expression: &Expression) -> Result<Node, Error> {
        let node = self.expression(expression)?;
        match node.ty {
            Type::Truth => {
                let message = "a condition is not a number; write `1 if … else 0`";
                Err(Error::new(node.span, message))
            }
            Type::Integer | Type::Real => Ok(node),
        }
    }

    /// Resolves an expression that must be a real; integers are converted.
    pub(super) fn real(&mut self, expression: &Expression) -> Result<Node, Error> {
        let node = self.numeric(expression)?;
        Ok(if node.ty == Type::Integer { to_real(node) } else { node })
    }

    /// Resolves an expression that must be a condition; an integer counts as true unless it is 0, as in masks.
    pub(super) fn condition(&mut self, expression: &Expression) -> Result<Node, Error> {
        let node = self.expression(expression)?;
        let (span, is_data) = (node.span, node.is_data);
        match node.ty {
            Type::Truth => Ok(node),
            Type::Integer => {
                let zero = Box::new(Node::integer(0, span));
                let kind = NodeKind::Compare(ir::Relation::Ne, Box::new(node), zero);
                Ok(Node { kind, ty: Type::Truth, is_data, span })
            }
            Type::Real => {
                Err(Error::new(span, "a condition is needed, such as `x[i] > 0`, not a number"))
            }
        }
    }

    fn negation(&mut self, a: &Expression, span: Span) -> Result<Node, Error> {
        let a = self.numeric(a)?;
        let (ty, is_data) = (a.ty, a.is_data);
        Ok(match &a.kind {
            NodeKind::Number(number) => Node { kind: NodeKind::Number(-number), ..a },
            _ => Node { kind: NodeKind::Negate(Box::new(a)), ty, is_data, span },
        })
    }

    fn arithmetic(
        &mut self,
        operator: Binary,
        a: &Expression,
        b: &Expression,
        span: Span,
    ) -> Result<Node, Error> {
        let op = match operator {
            Binary::Add => Arithmetic::Add,
            Binary::Subtract => Arithmetic::Subtract,
            Binary::Multiply => Arithmetic::Multiply,
            Binary::Divide => Arithmetic::Divide,
            Binary::FloorDivide => Arithmetic::FloorDivide,
            _ => Arithmetic::Remainder,
        };
        let (a, b) = match op {
            Arithmetic::Divide => {
                let (a, b) = (self.real(a)?, self.real(b)?);
                if b.number().is_some_and(Number::is_zero) {
                    return Err(Error::new(b.span, "a division by 0"));
                }
                (a, b)
            }
            Arithmetic::FloorDivide | Arithmetic::Remainder => {
                let (a, b) = (self.numeric(a)?, self.numeric(b)?);
                if let Some(real) = [&a, &b].into_iter().find(|one| one.ty == Type::Real) {
                    let message = format!(
                        "`{}` is for integers; for reals write `floor(a / b)`",
                        operator.strength_and_spelling().1.trim()
                    );
                    return Err(Error::new(real.span, message));
                }
                if interval(&self.typed, &b).is_some_and(|range| range == (0, 0)) {
                    return Err(Error::new(b.span, "a division by 0"));
                }
                (a, b)
            }
            _ => to_common_type(self.numeric(a)?, self.numeric(b)?),
        };
        let (ty, is_data) = (a.ty, a.is_data || b.is_data);
        if let (Some(x), Some(y)) = (a.number(), b.number())
            && let Some(number) = fold_constants(op, x, y).filter(is_small)
        {
            return Ok(Node { kind: NodeKind::Number(number), ty, is_data: false, span });
        }
        let kind = NodeKind::Arithmetic(op, Box::new(a), Box::new(b));
        Ok(Node { kind, ty, is_data, span })
    }

    fn power(&mut self, a: &Expression, b: &Expression, span: Span) -> Result<Node, Error> {
        let (a, b) = (self.numeric(a)?, self.numeric(b)?);
        let is_data = a.is_data || b.is_data;
        let exponent = match b.number() {
            Some(number) => number.clone(),
            None if is_integer_power(&self.typed, &a, &b) => {
                let kind = NodeKind::IntegerPower(Box::new(a), Box::new(b));
                return Ok(Node { kind, ty: Type::Integer, is_data, span });
            }
            None => {
                let real = |node: Node| if node.ty == Type::Integer { to_real(node) } else { node };
                let power = crate::typed::Function::Real(ir::RealFunction::Pow);
                let kind = NodeKind::Function(power, vec![real(a), real(b)]);
                return Ok(Node { kind, ty: Type::Real, is_data, span });
            }
        };
        let small_power = exponent.to_i64().filter(|power| (0..=MAX_INTEGER_POWER).contains(power));
        if let (Some(base), Some(power)) = (a.number(), exponent.to_i64())
            && let Some(power) = i32::try_from(power).ok().filter(|power| power.abs() <= 1024)
            && let Some(number) = base.integer_power(power).filter(is_small)
        {
            let ty = if number.to_i64().is_some() && power >= 0 { a.ty } else { Type::Real };
            return Ok(Node { kind: NodeKind::Number(number), ty, is_data: false, span });
        }
        let base = if a.ty == Type::Integer && small_power.is_none() { to_real(a) } else { a };
        let ty = base.ty;
        Ok(Node { kind: NodeKind::Power(Box::new(base), exponent), ty, is_data, span })
    }

    fn comparison(
        &mut self,
        first: &Expression,
        others: &[(Relation, Expression)],
        span: Span,
    ) -> Result<Node, Error> {
        let mut left = self.numeric(first)?;
        let mut all: Option<Node> = None;
        for (relation, right) in others {
            let right = self.numeric(right)?;
            let relation = match relation {
                Relation::Less => ir::Relation::Lt,
                Relation::LessEqual => ir::Relation::Le,
                Relation::Greater => ir::Relation::Gt,
                Relation::GreaterEqual => ir::Relation::Ge,
                Relation::Equal => ir::Relation::Eq,
                Relation::NotEqual => ir::Relation::Ne,
            };
            let (a, b) = to_common_type(left, right.clone());
            let is_data = a.is_data || b.is_data;
            let kind = NodeKind::Compare(relation, Box::new(a), Box::new(b));
            let one = Node { kind, ty: Type::Truth, is_data, span };
            all = Some(match all {
                None => one,
                Some(before) => {
                    let is_data = before.is_data || one.is_data;
                    let kind = NodeKind::And(Box::new(before), Box::new(one));
                    Node { kind, ty: Type::Truth, is_data, span }
                }
            });
            left = right;
        }
        all.ok_or_else(|| Error::new(span, "a comparison has two sides"))
    }
}

/// Converts two numbers to one type: both integers, or both reals. Conditions become 1 or 0 if the other is a number.
pub(super) fn to_common_type(a: Node, b: Node) -> (Node, Node) {
    let real = |node: Node| match node.ty {
        Type::Real => node,
        Type::Integer => to_real(node),
        Type::Truth => to_real(as_number(node)),
    };
    match (a.ty, b.ty) {
        (a_type, b_type) if a_type == b_type => (a, b),
        (Type::Truth, Type::Integer) => (as_number(a), b),
        (Type::Integer, Type::Truth) => (a, as_number(b)),
        _ => (real(a), real(b)),
    }
}

/// Returns `true` if a power of integers is an integer: its exponent depends on indices alone and is not negative.
fn is_integer_power(typed: &Typed, a: &Node, b: &Node) -> bool {
    let are_integers = a.ty == Type::Integer && b.ty == Type::Integer;
    let most = i128::from(MAX_INTEGER_POWER);
    are_integers
        && !b.is_data
        && interval(typed, b).is_some_and(|(low, high)| low >= 0 && high <= most)
}

/// Returns `true` if numerator and denominator are small enough for doubles, so that a literal can be built
/// from them.
fn is_small(number: &Number) -> bool {
    const MAX_BITS: usize = 900;
    number.bits() <= MAX_BITS
}

/// Computes an operation on two literals, exactly.
fn fold_constants(op: Arithmetic, a: &Number, b: &Number) -> Option<Number> {
    let integers = || Some((i128::from(a.to_i64()?), i128::from(b.to_i64()?)));
    let as_number = |value: i128| i64::try_from(value).ok().map(Number::from);
    match op {
        Arithmetic::Add => Some(a + b),
        Arithmetic::Subtract => Some(a - b),
        Arithmetic::Multiply => Some(a * b),
        Arithmetic::Divide => b.reciprocal().map(|reciprocal| a * &reciprocal),
        Arithmetic::FloorDivide => integers().and_then(|(a, b)| as_number(floor_divide(a, b)?)),
        Arithmetic::Remainder => {
            integers().and_then(|(a, b)| as_number(a - floor_divide(a, b)?.checked_mul(b)?))
        }
    }
}

/// Returns the quotient rounded down; `None` for divisor 0.
pub(crate) fn floor_divide(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    let is_below = a % b != 0 && (a < 0) != (b < 0);
    Some(quotient - i128::from(is_below))
}
