//! The one place where a kernel rounds on purpose: `expf` as nvcc expands it.

use crate::Enclosure;
use crate::domain::Known;
use ir::Rounding;

/// What `expf` adds in order to round to an integer, how many integers there can be, and where the
/// exponents 2^0 of their sums are.
const ROUNDING: i128 = 12_582_913;
const EXPONENTS: i128 = 252;
pub(crate) const EXPONENT_ORIGIN: i128 = 12_583_039;

/// Whether `a·b + c` rounds `a·b` down to an integer: `a` is between 0 and 1 and the sum, rounded
/// down, has no bits below the point. This is the one place where a kernel rounds on purpose.
pub(crate) fn rounds_down<E: Enclosure>([a, b, c]: [&Known<E>; 3], rounding: Rounding) -> bool {
    let (Known::Real(a), Known::Real(b), Known::Real(c)) = (a, b, c) else { return false };
    rounding == Rounding::Down
        && b.to_integer() == Some(EXPONENTS)
        && c.to_integer() == Some(ROUNDING)
        && E::point(0.0).at_most(a)
        && a.at_most(&E::point(1.0))
}
