//! Sums of products inside matrix instructions.
//!
//! The manual leaves order and rounding open ("at least single precision"); Hopper adds fp8 products with
//! some 13 bits. Sums with only exact parts in the accumulator are exact in any order (recordings of an H200
//! agree); for others the error is bounded generously.

use super::Unfixed;
use super::enclosure::Enclosure;
use super::interval::{product, sum};
use super::sum::lowest_bit;
use crate::concrete;
use ir::Format;

/// Encloses `Σ a·b + c`, given the formats of A, B, and C and D.
pub(crate) fn matrix_sum(
    (a, b): (Format, Format),
    products: impl Iterator<Item = (u64, u64)>,
    (format, start): (Format, u64),
    d: Format,
) -> Option<Enclosure> {
    let start = concrete::to_double(format, start);
    let mut is_plain_zero = start.to_bits() == 0;
    let mut total = [start; 2];
    let (mut magnitude, mut count, mut quantum) = (start.abs(), 1u32, lowest_bit(start));
    for (x, y) in products {
        if has_low_bits(a, x) || has_low_bits(b, y) {
            return None;
        }
        let (x, y) = (concrete::to_double(a, x), concrete::to_double(b, y));
        let ends = [product(x, y, false), product(x, y, true)];
        total = [sum(total[0], ends[0], false), sum(total[1], ends[1], true)];
        magnitude = sum(magnitude, ends[1].abs().max(ends[0].abs()), true);
        quantum = quantum.min(lowest_bit(x).saturating_add(lowest_bit(y)));
        is_plain_zero &= ends[0].to_bits() == 0;
        count += 1;
    }
    // The manual does not specify the sign of a zero sum of negative zeros or cancelled terms.
    if is_plain_zero {
        return Enclosure::of_bits(d, 0);
    }
    if !magnitude.is_finite() {
        return None;
    }
    let precision = precision(a, b, d);
    let lowest = match (a, d) {
        (Format::F64, _) => -1022,
        (_, Format::F16) => -14,
        _ => -126,
    };
    let fits = magnitude <= 2f64.powi(quantum.min(900).saturating_add(precision).min(1000));
    if fits && quantum >= lowest && total[0] == total[1] {
        return Some(Enclosure::between(total, None));
    }
    let unit = 2f64.powi(1 - precision) * f64::from(count);
    let error = 1.05 * unit * magnitude + f64::from(count) * 2f64.powi(lowest);
    let ends = [sum(total[0], -error, false), sum(total[1], error, true)];
    (unit < 0.01).then(|| Enclosure::between(ends, Some(Unfixed::MatrixSum)))
}

/// Returns `true` if an operand of tf32 has bits below those of the format; their effect is unspecified.
fn has_low_bits(format: Format, bits: u64) -> bool {
    format == Format::Tf32 && bits & 0x1fff != 0
}

/// The precision of every partial sum in bits.
fn precision(a: Format, b: Format, d: Format) -> i32 {
    let narrow = [a, b].iter().any(|one| matches!(one, Format::E4m3 | Format::E5m2));
    match (a, d) {
        (Format::F64, _) => 53,
        (_, Format::F16) => 11,
        _ if narrow => 13,
        _ => 23,
    }
}
