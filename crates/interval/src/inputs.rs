//! The inputs of an interval run: numbers for buffers and arguments, and the constants that stand for a real number
//! near them.

use exec::domain::InputSource;
use ir::Format;
use rustc_hash::FxHashMap;

/// The numbers that inputs are. Each must be a number of the input's type, which doubles hold exactly (integers up to
/// 2^53).
#[derive(Clone, Debug, Default)]
pub struct RunInputs {
    pub(crate) known: FxHashMap<InputSource, Vec<f64>>,
    /// Buffers of integers, given by their bytes: they may be addresses.
    pub(crate) bits: Vec<(usize, Vec<u8>)>,
    /// Arguments that are not numbers of their type, by bounds.
    pub(crate) between: FxHashMap<InputSource, (f64, f64)>,
    /// Returns `true` for constants that stand for a real number that rounds to them, such as log2(e).
    pub(crate) rounded: Option<fn(Format, u64) -> bool>,
    /// More such constants, by their magnitude.
    pub(crate) rounded_ones: Vec<(Format, u64)>,
}

impl RunInputs {
    /// Sets which constants stand for a real number that rounds to them. Such a constant becomes the interval around
    /// it.
    pub fn rounded(&mut self, rounded: fn(Format, u64) -> bool) {
        self.rounded = Some(rounded);
    }

    /// Declares that a positive constant, and its opposite, stand for numbers near them.
    pub fn rounded_one(&mut self, format: Format, bits: u64) {
        self.rounded_ones.push((format, bits));
    }

    /// Returns `true` if a constant stands for a number near it.
    pub(crate) fn is_rounded(&self, format: Format, bits: u64) -> bool {
        let magnitude = bits & (format.width().mask() >> 1);
        self.rounded.is_some_and(|rounded| rounded(format, bits))
            || self.rounded_ones.contains(&(format, magnitude))
    }

    /// Sets the initial contents of a buffer.
    pub fn buffer(&mut self, buffer: usize, numbers: Vec<f64>) {
        self.known.insert(InputSource::Buffer(buffer), numbers);
    }

    /// Sets the initial bytes of a buffer; it is then not an input of the domain.
    pub fn bits(&mut self, buffer: usize, bytes: Vec<u8>) {
        self.bits.push((buffer, bytes));
    }

    /// Sets an argument; `offset` is that of a member of a structure, or 0.
    pub fn argument(&mut self, position: usize, offset: u64, number: f64) {
        self.known.insert(InputSource::Argument(position, offset), vec![number]);
    }

    /// Sets an argument to an unknown real number between two.
    pub fn argument_between(&mut self, position: usize, offset: u64, (low, high): (f64, f64)) {
        self.between.insert(InputSource::Argument(position, offset), (low, high));
    }
}
