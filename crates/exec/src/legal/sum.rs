//! Sums of atomic additions in every order.
//!
//! If all summands are multiples of a power of two, large enough for the format to have every partial sum, no
//! addition rounds and the order does not matter. Otherwise a sum of `n` numbers is off by at most `n·u·Σ|x|`
//! in any order, for `u` half a unit in the last place of 1 (Higham, *Accuracy and Stability of Numerical
//! Algorithms*, §4.2).

use super::Unfixed;
use super::enclosure::Enclosure;
use super::interval::sum;
use ir::Format;

/// The summands so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sum {
    total: [f64; 2],
    /// The sum of the magnitudes, rounded up.
    magnitude: f64,
    count: u32,
    /// All are multiples of this power of two; `None` if some are not known exactly.
    quantum: Option<i32>,
}

/// Returns the precision in bits, the exponent of the smallest normal number, and the largest number.
fn format_of(format: Format) -> Option<(i32, i32, f64)> {
    Some(match format {
        Format::F64 => (53, -1022, f64::MAX),
        Format::F32 => (24, -126, f64::from(f32::MAX)),
        Format::F16 => (11, -14, 65504.0),
        Format::Bf16 => (8, -126, f64::from(f32::MAX)),
        Format::Tf32 | Format::E4m3 | Format::E5m2 => return None,
    })
}

/// The exponent of the lowest set bit; zero is a multiple of everything.
pub(super) fn lowest_bit(number: f64) -> i32 {
    if number == 0.0 {
        return i32::MAX;
    }
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    exponent.max(1) - 1075 + significand.trailing_zeros() as i32
}

impl Sum {
    /// A sum with only the initial contents.
    pub(super) fn start(ends: [f64; 2]) -> Self {
        let [low, high] = ends;
        let quantum = (low == high && low.is_finite()).then(|| lowest_bit(low));
        Self { total: ends, magnitude: low.abs().max(high.abs()), count: 1, quantum }
    }

    /// Adds a summand.
    pub(super) fn add(self, ends: [f64; 2]) -> Self {
        let other = Self::start(ends);
        Self {
            total: [sum(self.total[0], ends[0], false), sum(self.total[1], ends[1], true)],
            magnitude: sum(self.magnitude, other.magnitude, true),
            count: self.count.saturating_add(1),
            quantum: self.quantum.zip(other.quantum).map(|(a, b)| a.min(b)),
        }
    }

    /// Encloses all possible values of the sum.
    pub(super) fn enclosure(self, format: Format) -> Option<Enclosure> {
        let (precision, lowest, largest) = format_of(format)?;
        if !self.magnitude.is_finite() {
            return None;
        }
        if let Some(quantum) = self.quantum
            && (quantum == i32::MAX || quantum >= lowest)
            && self.magnitude <= 2f64.powi(quantum.min(900).saturating_add(precision).min(1000))
        {
            return Some(Enclosure::between(self.total, None).with_sum(self));
        }
        let count = f64::from(self.count);
        let unit = 2f64.powi(-precision);
        if count * unit > 0.01 {
            return None;
        }
        // Subnormals may be flushed, once for each addition and summand.
        let error = 1.05 * count * (unit * self.magnitude + 2.0 * 2f64.powi(lowest));
        let ends = [sum(self.total[0], -error, false), sum(self.total[1], error, true)];
        let inside = self.magnitude + error < largest;
        inside.then(|| Enclosure::between(ends, Some(Unfixed::AtomicOrder)).with_sum(self))
    }
}
