//! Translated expressions of a formula: their text in the language of contracts, their type, and what is known of
//! them (constant value, sign, dependence on data).

use std::fmt::{self, Display, Formatter};
use term::Number;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Integer,
    Real,
    Truth,
}

/// An expression of a contract. Its text can be an operand: it has parentheses where they matter.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) text: String,
    pub(super) ty: Ty,
    /// Its value, if it is a constant.
    pub(super) number: Option<Number>,
    /// Set for an integer that is never negative.
    pub(super) is_unsigned: bool,
    /// Set if it depends on contents of tensors.
    pub(super) is_data: bool,
    /// For a condition that does not depend on data: the conditions that hold if it is false, and if it is true.
    pub(super) implied: [Vec<String>; 2],
}

impl Term {
    /// Builds an expression from others.
    pub(super) fn of(text: String, ty: Ty, parts: &[&Self]) -> Self {
        let is_data = parts.iter().any(|part| part.is_data);
        let implied = match ty {
            Ty::Truth if !is_data => [vec![format!("(!{text})")], vec![text.clone()]],
            _ => [Vec::new(), Vec::new()],
        };
        Self { text, ty, number: None, is_unsigned: false, is_data, implied }
    }

    /// Returns an integer that is never negative, such as an index or a size.
    pub(super) fn unsigned(text: String) -> Self {
        Self { is_unsigned: true, ..Self::of(text, Ty::Integer, &[]) }
    }

    /// Returns a literal integer.
    pub(super) fn integer(value: i64) -> Self {
        let text = if value < 0 { format!("({value})") } else { value.to_string() };
        let number = Some(Number::from(value));
        Self { number, is_unsigned: value >= 0, ..Self::of(text, Ty::Integer, &[]) }
    }

    /// Returns the value of a literal integer.
    pub(super) fn to_i64(&self) -> Option<i64> {
        self.number.as_ref().filter(|_| self.ty == Ty::Integer).and_then(Number::to_i64)
    }

    /// `(a && b && …)`, or `None` if there are no conditions.
    pub(super) fn all(conditions: &[String]) -> Option<String> {
        match conditions {
            [] => None,
            [one] => Some(one.clone()),
            _ => Some(format!("({})", conditions.join(" && "))),
        }
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
