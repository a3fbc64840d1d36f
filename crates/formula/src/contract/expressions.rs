//! Translates expressions: names, conditions and conditionals.

use super::definitions::Translator;
use super::operators::{as_number, to_common_type};
use super::term::{Term, Ty};
use crate::ast::{Binary, Expression, ExpressionKind, Relation, Unary};
use crate::error::Error;
use base::Span;

/// Limit on the characters of an expression; a `let` of a `let` doubles with each level.
pub(super) const MAX_TEXT: usize = 1 << 16;

/// Limit on the characters of all expressions together: long chains of `let` are inlined again and again.
const MAX_WORK: usize = 1 << 24;

/// Returns the mistake of an expression over the limits.
pub(super) fn too_long(span: Span) -> Error {
    Error::new(span, "with every `let` expanded this is too long for a contract")
}

impl<'f> Translator<'f> {
    /// Translates an expression.
    pub(super) fn expression(&mut self, expression: &'f Expression) -> Result<Term, Error> {
        let span = expression.span;
        let term = match &expression.kind {
            ExpressionKind::Number(number, is_real) => {
                self.literal(number, *is_real, &expression.to_string(), span)
            }
            ExpressionKind::Name(name) => self.name(name, span),
            ExpressionKind::Element { name, indices, outside } => {
                self.element(name, indices, outside.as_deref(), span)
            }
            ExpressionKind::Call { name, arguments } => self.call(name, arguments, span),
            ExpressionKind::Unary(Unary::Negate, a) => self.negation(a),
            ExpressionKind::Unary(Unary::Not, a) => {
                let a = self.condition(a)?;
                let [no, yes] = a.implied.clone();
                let text = format!("(!{})", a.text);
                Ok(Term { implied: [yes, no], ..Term::of(text, Ty::Truth, &[&a]) })
            }
            ExpressionKind::Binary(operator @ (Binary::And | Binary::Or), a, b) => {
                self.junction(*operator == Binary::And, a, b)
            }
            ExpressionKind::Binary(Binary::Power, a, b) => self.power(a, b),
            ExpressionKind::Binary(operator, a, b) => self.arithmetic(*operator, a, b),
            ExpressionKind::Comparison(first, others) => self.comparison(first, others),
            ExpressionKind::If { value, condition, otherwise: Some(otherwise) } => {
                self.choice(value, condition, otherwise)
            }
            ExpressionKind::If { otherwise: None, .. } => Err(Error::new(
                span,
                "`if` without `else` is allowed only inside of sum, mean, …; elsewhere write `a if c else b`",
            )),
        }?;
        self.work += term.text.len();
        match term.text.len() > MAX_TEXT || self.work > MAX_WORK {
            true => Err(too_long(span)),
            false => Ok(term),
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Result<Term, Error> {
        if let Some((_, term)) = self.scope.iter().find(|(known, _)| *known == name) {
            return Ok(term.clone());
        }
        if let Some(value) = self.single(name, span) {
            return value;
        }
        if let Some(scalar) = self.sizes.scalars.iter().find(|scalar| scalar.name == name) {
            let ty = if scalar.is_integer { Ty::Integer } else { Ty::Real };
            // The contract requires sizes not to be negative.
            let is_size = self.shapes.iter().flatten().any(|size| size.text == name);
            let is_unsigned = scalar.is_integer && (scalar.is_unsigned || is_size);
            return Ok(Term { is_unsigned, ..Term::of(name.to_owned(), ty, &[]) });
        }
        if name == "inf" {
            let message = "infinity is not a real number, and contracts are about real numbers";
            return Err(Error::new(span, message));
        }
        self.constant(name).ok_or_else(|| self.unknown(name, span))
    }

    /// Translates an expression that must be an integer.
    pub(super) fn integer(&mut self, expression: &'f Expression) -> Result<Term, Error> {
        let term = self.expression(expression)?;
        match term.ty {
            Ty::Integer => Ok(term),
            Ty::Real | Ty::Truth => {
                Err(Error::new(expression.span, "an integer is needed here: an index or a size"))
            }
        }
    }

    /// Translates an expression that must be a number; a condition counts as 0 or 1.
    pub(super) fn number(&mut self, expression: &'f Expression) -> Result<Term, Error> {
        Ok(as_number(self.expression(expression)?))
    }

    /// Translates an expression that must be a condition.
    pub(super) fn condition(&mut self, expression: &'f Expression) -> Result<Term, Error> {
        let term = self.expression(expression)?;
        match term.ty {
            Ty::Truth => Ok(term),
            Ty::Integer | Ty::Real => {
                let message = "a condition is needed here, such as `i < n`";
                Err(Error::new(expression.span, message))
            }
        }
    }

    /// Translates `a and b` or `a or b`: the right side is evaluated only if the left one leaves the result open.
    fn junction(
        &mut self,
        is_and: bool,
        a: &'f Expression,
        b: &'f Expression,
    ) -> Result<Term, Error> {
        let a = self.condition(a)?;
        let b = self.under(&a, is_and, |one| one.condition(b))?;
        let operator = if is_and { "&&" } else { "||" };
        let text = format!("({} {operator} {})", a.text, b.text);
        let mut both = Term::of(text, Ty::Truth, &[&a, &b]);
        let certain = usize::from(is_and);
        both.implied[certain] = [&a, &b].map(|one| one.implied[certain].clone()).concat();
        Ok(both)
    }

    fn comparison(
        &mut self,
        first: &'f Expression,
        others: &'f [(Relation, Expression)],
    ) -> Result<Term, Error> {
        let mut left = self.number(first)?;
        let (mut conditions, mut parts) = (Vec::new(), Vec::new());
        for (relation, right) in others {
            let right = self.number(right)?;
            let (a, b) = to_common_type(left, right.clone());
            conditions.push(format!("({} {} {})", a.text, relation.spelling(), b.text));
            parts.extend([a, b]);
            left = right;
        }
        let text = Term::all(&conditions).unwrap_or_default();
        Ok(Term::of(text, Ty::Truth, &parts.iter().collect::<Vec<_>>()))
    }

    fn choice(
        &mut self,
        value: &'f Expression,
        condition: &'f Expression,
        otherwise: &'f Expression,
    ) -> Result<Term, Error> {
        let condition = self.condition(condition)?;
        let value = self.under(&condition, true, |one| one.expression(value))?;
        let otherwise = self.under(&condition, false, |one| one.expression(otherwise))?;
        let (value, otherwise) = to_common_type(value, otherwise);
        let text = format!("({} ? {} : {})", condition.text, value.text, otherwise.text);
        let is_unsigned = value.is_unsigned && otherwise.is_unsigned;
        Ok(Term { is_unsigned, ..Term::of(text, value.ty, &[&condition, &value, &otherwise]) })
    }
}
