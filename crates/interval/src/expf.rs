//! `expf` as nvcc expands it: the one place where a kernel rounds on purpose.

use crate::Enclosure;
use crate::domain::AbstractValue;
use ir::Rounding;

/// Constants of `expf`: the addend that rounds to an integer, the number of possible integers, and the sum that
/// stands for the exponent 2^0.
const ROUNDING: i128 = 12_582_913;
const EXPONENTS: i128 = 252;
pub(crate) const EXPONENT_ORIGIN: i128 = 12_583_039;

/// Returns `true` if `a·b + c` rounds `a·b` down to an integer: `a` is between 0 and 1, and the sum, rounded down, has
/// no bits below the point.
pub(crate) fn rounds_down<E: Enclosure>(
    [a, b, c]: [&AbstractValue<E>; 3],
    rounding: Rounding,
) -> bool {
    let (AbstractValue::Real(a), AbstractValue::Real(b), AbstractValue::Real(c)) = (a, b, c) else {
        return false;
    };
    rounding == Rounding::Down
        && b.to_integer() == Some(EXPONENTS)
        && c.to_integer() == Some(ROUNDING)
        && E::point(0.0).at_most(a)
        && a.at_most(&E::point(1.0))
}
