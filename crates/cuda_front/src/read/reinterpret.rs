//! Reinterprets floats as integers and back: `__float_as_int`, and elements that are accessed through a pointer of
//! the other kind.
//!
//! An array has one element type. An access of the other kind is converted by a bit function ([`Stmt::Bits`]), which
//! is opaque in proofs; a run computes it. 32-bit floats pair with 32-bit integers, doubles with 64-bit ones; other
//! floats are not reinterpreted.

use super::diagnostics::{Result, unsupported};
use super::lowerer::Lowerer;
use super::types::{Layout, convert};
use base::Span;
use cuda::tree::{self, FloatKind};
use kir::{Expr, Stmt, Type};

impl Lowerer<'_> {
    /// Returns `true` if one of two scalar types is a float, and the other the integer of the same width.
    pub(super) fn are_bits(&self, one: &tree::Type, other: &tree::Type) -> bool {
        let layouts = (self.layout(one), self.layout(other));
        let (Some(one), Some(other)) = layouts else { return false };
        let fits = |float: Layout, integer: Layout| {
            matches!(
                (float, integer),
                (Layout::Float(FloatKind::Float), Layout::Int(32))
                    | (Layout::Float(FloatKind::Double), Layout::Int(64))
            )
        };
        fits(one, other) || fits(other, one)
    }

    /// Converts a value to a type, bitwise if one is a float and the other an integer.
    pub(super) fn with_bits_of(
        &mut self,
        value: Expr,
        to: Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let Some(name) = reinterpretation(value.ty, to) else { return Ok(convert(value, to)) };
        if self.in_annotation {
            let message = "an element of another type in an annotation is not supported";
            return Err(unsupported(span, message));
        }
        let var = self.keep("bits", value, out);
        let result = self.new_var("bits", to);
        out.push(Stmt::Bits(result, name, vec![self.var(var, span)]));
        Ok(self.var(result, span))
    }

    /// `__float_as_int` and its like; `None` for another function.
    pub(super) fn as_bits(
        &mut self,
        name: &str,
        argument: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Expr>> {
        let long = |signed| Type::Int { bits: 64, signed };
        let (from, to) = match name {
            "__float_as_int" => (Type::Float, Type::INT),
            "__float_as_uint" => (Type::Float, Type::UNSIGNED),
            "__double_as_longlong" => (Type::Float, long(true)),
            "__int_as_float" => (Type::INT, Type::Float),
            "__uint_as_float" => (Type::UNSIGNED, Type::Float),
            "__longlong_as_double" => (long(true), Type::Float),
            _ => return Ok(None),
        };
        let value = convert(self.number(argument, out)?, from);
        self.with_bits_of(value, to, argument.span, out).map(Some)
    }
}

/// The bit function between two types, one of them a float and the other an integer of 32 or 64 bits.
pub(super) fn reinterpretation(from: Type, to: Type) -> Option<&'static str> {
    match (from, to) {
        (Type::Float, Type::Int { bits: 32, .. }) => Some("__float_as_int"),
        (Type::Float, Type::Int { bits: 64, .. }) => Some("__double_as_longlong"),
        (Type::Int { bits: 32, .. }, Type::Float) => Some("__int_as_float"),
        (Type::Int { bits: 64, .. }, Type::Float) => Some("__longlong_as_double"),
        _ => None,
    }
}
