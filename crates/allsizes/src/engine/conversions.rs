//! Compared integers that were converted between signed and unsigned types of one width.
//!
//! Such a conversion is defined for every number: it wraps (`(int)u < 0`, `(unsigned)x < n`). Elsewhere a converted
//! number must be shown to keep its value; where it is compared directly, the two cases are distinguished instead.

use super::Engine;
use super::eval::in_type;
use super::state::{Claim, State};
use arith::formula::Formula;
use arith::poly::Poly;
use kir::{Expr, ExprKind, Type};

impl Engine<'_> {
    /// The machine's value of a compared number, as cases of which exactly one is true. Adds the
    /// obligation under which that is so.
    pub(super) fn machine_cases(
        &mut self,
        poly: &Poly,
        expr: &Expr,
        state: &State,
    ) -> Vec<(Formula, Poly)> {
        if let Some(wrapped) = self.wrapped_once(poly, expr, state) {
            return vec![(Formula::True, wrapped)];
        }
        let fits = in_type(poly, expr.ty);
        if let Some((from, moved)) = other_signedness(poly, expr)
            && (fits == Formula::False
                || !self.prover.proves_quickly(&state.path, &fits)
                    && !self.prover.proves(&state.path, &fits))
        {
            let goal = Formula::or([fits.clone(), in_type(poly, from)]);
            self.oblige(Claim::Overflow(expr.ty), goal, expr.span, state);
            return vec![(fits.clone(), poly.clone()), (fits.not(), moved)];
        }
        self.oblige_in_range(poly, expr, state);
        vec![(Formula::True, poly.clone())]
    }
}

impl Engine<'_> {
    /// The machine's value of a number with a large constant, such as `(int)(u + 4294967295u)`, that was converted from
    /// an unsigned type: unsigned sums and the conversion keep it modulo the width, so the congruent number that is
    /// proved to be in the type is its value.
    fn wrapped_once(&mut self, poly: &Poly, expr: &Expr, state: &State) -> Option<Poly> {
        let (from, _) = other_signedness(poly, expr)?;
        let Type::Int { bits, signed: false } = from else { return None };
        let constant = poly.constant_term();
        let signed = Type::Int { bits, signed: true };
        let wrapped = poly.offset(signed.wrap(constant).checked_sub(constant)?)?;
        let is_value = wrapped != *poly
            && poly.as_constant().is_none()
            && self.prover.proves_quickly(&state.path, &in_type(&wrapped, expr.ty));
        is_value.then_some(wrapped)
    }
}

/// The type from which a number was converted to the other signedness, and its value if it wraps once.
fn other_signedness(poly: &Poly, expr: &Expr) -> Option<(Type, Poly)> {
    let ExprKind::Convert(inner) = &expr.kind else { return None };
    let (Type::Int { bits: from, signed: before }, Type::Int { bits: to, signed: after }) =
        (inner.ty, expr.ty)
    else {
        return None;
    };
    let modulus = 1_i128.checked_shl(u32::from(to))?;
    let wrapped = poly.offset(if after { -modulus } else { modulus })?;
    (from == to && before != after).then_some((inner.ty, wrapped))
}
