//! Runs both kernels as written on the numbers of a witness, in the floats of hardware.
//!
//! Terms and intervals describe real numbers, but a user sees floats. So a difference over the reals is
//! reported only at inputs for which the kernels compute different floats: `x` and `1/(1/x)` are both 0 at 0,
//! though only one is defined there. The bits are those of [`exec::run`], as `simulate` shows them.
//! Approximate functions and the order of float atomics may differ from hardware in the last bits, but that
//! cannot make distant results agree.

use crate::position::Position;
use crate::side::{Output, Side};
use crate::table::Table;
use crate::witness::{Numbers, Run};
use exec::concrete::to_double;
use exec::{Limits, Outcome};
use ir::Scalar;

/// Two results within this relative distance may be roundings of one number.
const ROUNDING_DISTANCE: f64 = 1.0 / 256.0;

/// An element as both kernels compute it in floats, reference first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floats {
    values: [f64; 2],
}

impl Floats {
    pub(crate) const fn new(values: [f64; 2]) -> Self {
        Self { values }
    }

    /// Returns the values; infinite or NaN if a kernel computes that.
    #[must_use]
    pub const fn values(self) -> [f64; 2] {
        self.values
    }

    /// Returns `true` if the kernels compute the same value, signs of zeros and NaN payloads aside.
    #[must_use]
    pub fn are_alike(self) -> bool {
        let [reference, optimised] = self.values;
        reference == optimised || (reference.is_nan() && optimised.is_nan())
    }

    /// Returns `true` if the two may be roundings of one number.
    #[must_use]
    pub fn are_close(self) -> bool {
        let [reference, optimised] = self.values;
        let size = reference.abs().max(optimised.abs());
        self.are_alike()
            || (size.is_finite() && (reference - optimised).abs() <= ROUNDING_DISTANCE * size)
    }
}

/// Runs both kernels on the numbers. Returns the element and the number of executed instructions; `None` if a
/// kernel does not complete.
pub(crate) fn replay(
    sides: [&Side<'_>; 2],
    table: &Table,
    position: &Position,
    numbers: &Numbers,
    limits: Limits,
) -> Option<(Floats, u64)> {
    let mut values = [0.0; 2];
    let mut instructions = 0;
    for (number, side) in sides.into_iter().enumerate() {
        let output = side.writer(side.count(), &position.name)?;
        let outcomes = Run { side, number, table, numbers, limits }.on_bits()?;
        instructions += outcomes.iter().map(|outcome| outcome.lane_instructions).sum::<u64>();
        values[number] = element(&outcomes, output, position.index)?;
    }
    Some((Floats { values }, instructions))
}

/// Runs both kernels on the numbers and returns the first output element whose values are not close. `None`
/// if there is none, or if a kernel does not complete.
pub(crate) fn first_difference(
    sides: [&Side<'_>; 2],
    table: &Table,
    numbers: &Numbers,
    limits: Limits,
) -> Option<(Position, Floats)> {
    let outcomes = [0, 1].map(|number| {
        let side = sides[number];
        Run { side, number, table, numbers, limits }.on_bits()
    });
    let [Some(one), Some(other)] = outcomes else { return None };
    for (name, output) in sides[0].written() {
        let Some(second) = sides[1].writer(sides[1].count(), name) else { continue };
        for index in 0..output.1.starts.len() {
            let values = [element(&one, output, index)?, element(&other, second, index)?];
            let floats = Floats { values };
            if !floats.are_close() {
                return Some((Position { name: name.to_owned(), index }, floats));
            }
        }
    }
    None
}

/// Returns an element of an output as a double; 64-bit integers are rounded.
pub(crate) fn element(
    outcomes: &[Outcome],
    (launch, output): (usize, &Output),
    index: usize,
) -> Option<f64> {
    let size = output.scalar.width().bytes() as usize;
    let start = *output.starts.get(index)?;
    let memory = outcomes.get(launch)?.buffers.get(output.buffer)?;
    let bytes = memory.get(start..start.checked_add(size)?)?;
    let bits = bytes.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    Some(match output.scalar {
        Scalar::Float(format) => to_double(format, bits),
        integer @ Scalar::Integer { .. } => crate::scalar::integer_of(integer, bits) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_zeros_and_payloads_of_nans_do_not_count() {
        let floats = |reference, optimised| Floats { values: [reference, optimised] };
        assert!(floats(0.0, -0.0).are_alike() && floats(f64::NAN, -f64::NAN).are_alike());
        assert!(floats(f64::INFINITY, f64::INFINITY).are_alike());
        assert!(!floats(1.0, 1.0 + f64::EPSILON).are_alike());
        assert!(floats(1.0, 1.0 + f64::EPSILON).are_close());
        assert!(!floats(0.0, 1e-30).are_close() && !floats(0.0, f64::NAN).are_close());
        assert!(!floats(1.0, f64::INFINITY).are_close() && !floats(1.0, 1.01).are_close());
    }
}
