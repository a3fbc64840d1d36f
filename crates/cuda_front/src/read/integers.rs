//! Integer functions of CUDA: exact if the kernel IR can express them, else an unknown value in the range of their
//! results.

use super::diagnostics::Result;
use super::lowerer::Lowerer;
use super::types::{binary, compare, convert, fold, int, select};
use base::Span;
use kir::{Binary, Compare, Expr, Stmt, Type};

const LONG_UNSIGNED: Type = Type::Int { bits: 64, signed: false };

impl Lowerer<'_> {
    /// A function of integers; `None` if it is not one of these.
    pub(super) fn integer_function(
        &mut self,
        name: &'static str,
        values: &[Expr],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Expr>> {
        Ok(match (name, values) {
            ("__mul24" | "mul24", [left, right]) => Some(product_of_24(left, right, true, span)),
            ("__umul24" | "umul24", [left, right]) => Some(product_of_24(left, right, false, span)),
            ("__umulhi" | "umulhi", [left, right]) => {
                Some(high_part(left, right, LONG_UNSIGNED, Type::UNSIGNED, span))
            }
            ("__mulhi" | "mulhi", [left, right]) => {
                Some(high_part(left, right, Type::LONG, Type::INT, span))
            }
            ("__popc" | "__clz" | "__ffs", [inner]) => {
                Some(self.bit_count(name, inner, 32, span, out))
            }
            ("__popcll" | "__clzll" | "__ffsll", [inner]) => {
                Some(self.bit_count(name, inner, 64, span, out))
            }
            (
                "__brev" | "__byte_perm" | "__funnelshift_l" | "__funnelshift_r"
                | "__funnelshift_lc" | "__funnelshift_rc",
                _,
            ) => Some(self.bits(name, values, Type::UNSIGNED, span, out)),
            ("__brevll" | "__umul64hi", _) => {
                Some(self.bits(name, values, LONG_UNSIGNED, span, out))
            }
            ("__mul64hi", _) => Some(self.bits(name, values, Type::LONG, span, out)),
            _ => None,
        })
    }

    /// A bit function; its arguments are already computed numbers.
    fn bits(
        &mut self,
        name: &'static str,
        values: &[Expr],
        ty: Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Expr {
        let arguments = values.iter().map(|value| {
            let var = self.keep("bits", value.clone(), out);
            self.var(var, span)
        });
        let arguments = arguments.collect();
        let var = self.new_var("bits", ty);
        out.push(Stmt::Bits(var, name, arguments));
        self.var(var, span)
    }

    /// A count of bits, from 0 to the width.
    fn bit_count(
        &mut self,
        name: &'static str,
        inner: &Expr,
        width: u32,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Expr {
        if let Some(value) = fold(inner) {
            let value = value.rem_euclid(1 << width);
            let high = (128 - value.leading_zeros()).min(width);
            let count = match name.trim_end_matches("ll") {
                "__popc" => value.count_ones(),
                "__clz" => width - high,
                _ if value == 0 => 0,
                _ => value.trailing_zeros() + 1,
            };
            return int(i128::from(count), Type::INT, span);
        }
        let unknown = self.bits(name, std::slice::from_ref(inner), Type::UNSIGNED, span, out);
        let most = int(i128::from(width), Type::UNSIGNED, span);
        let count = binary(Binary::Min, unknown, most, span);
        Expr { span, ..convert(count, Type::INT) }
    }
}

/// Returns `true` if `integer_function` lowers a function.
pub(super) fn has_known_result(name: &str) -> bool {
    matches!(
        name,
        "__mul24"
            | "__umul24"
            | "__mulhi"
            | "__umulhi"
            | "__popc"
            | "__clz"
            | "__ffs"
            | "__popcll"
            | "__clzll"
            | "__ffsll"
            | "__brev"
            | "__brevll"
            | "__byte_perm"
            | "__funnelshift_l"
            | "__funnelshift_r"
            | "__funnelshift_lc"
            | "__funnelshift_rc"
            | "__umul64hi"
            | "__mul64hi"
    )
}

/// The low 24 bits of a number, signed or not.
fn low_24(value: &Expr, signed: bool, span: Span) -> Expr {
    let wide = convert(value.clone(), Type::LONG);
    let mask = int((1 << 24) - 1, Type::LONG, span);
    let low = binary(Binary::BitAnd, wide, mask, span);
    if !signed {
        return low;
    }
    let is_small = compare(Compare::Lt, low.clone(), int(1 << 23, Type::LONG, span));
    let negative = binary(Binary::Sub, low.clone(), int(1 << 24, Type::LONG, span), span);
    Expr { span, ..select(is_small, low, negative) }
}

/// The low half of the product of the low 24 bits of two numbers.
fn product_of_24(left: &Expr, right: &Expr, signed: bool, span: Span) -> Expr {
    let (left, right) = (low_24(left, signed, span), low_24(right, signed, span));
    let product = binary(Binary::Mul, left, right, span);
    let ty = if signed { Type::INT } else { Type::UNSIGNED };
    Expr { span, ..convert(product, ty) }
}

/// The high half of a product.
fn high_part(left: &Expr, right: &Expr, wide: Type, ty: Type, span: Span) -> Expr {
    let (left, right) = (convert(left.clone(), wide), convert(right.clone(), wide));
    let product = binary(Binary::Mul, left, right, span);
    let high = binary(Binary::Shr, product, int(32, wide, span), span);
    Expr { span, ..convert(high, ty) }
}
