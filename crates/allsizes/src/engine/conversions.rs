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
