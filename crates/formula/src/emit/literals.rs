//! Exact literals: a fraction is the quotient of two integers, and an integer a sum of doubles.

use super::Emitter;
use crate::typed::Constant;
use dashu_base::{BitTest, Sign, UnsignedAbs};
use dashu_int::UBig;
use ir::{FloatBinary, Format, Operand, RealFunction, Rounding, Scalar, Width};
use term::Number;

/// Every integer of this many bits is exactly a double.
const DIGITS: usize = 53;

/// Integers up to this one are singles.
const LARGEST_SINGLE: i128 = 1 << 24;

impl Emitter<'_> {
    /// Computes a literal as a real, exactly.
    pub(super) fn literal(&mut self, number: &Number) -> Operand {
        if let Some(exact) = self.exact(number) {
            return exact;
        }
        if let Some((_, known)) = self.literals.iter().find(|(one, _)| one == number) {
            return *known;
        }
        let before = self.builder.set_in_entry(true);
        let big = number.to_big();
        let (sign, above) = (big.numerator().sign(), big.numerator().unsigned_abs());
        let above = self.sum_of_doubles(&above);
        let below = self.sum_of_doubles(big.denominator());
        // Even if the denominator is 1: a quotient is a value of the domain, which no conversion rounds.
        let div = |emitter: &mut Self| {
            emitter.builder.float_in(Format::F64, FloatBinary::Div, above, below)
        };
        let mut quotient = Operand::from(div(self));
        if sign == Sign::Negative {
            let zero = Operand::Constant(0);
            let op = FloatBinary::Sub;
            quotient = self.builder.float_in(Format::F64, op, zero, quotient).into();
        }
        let quotient = self.double_as_real(quotient);
        self.builder.set_in_entry(before);
        self.literals.push((number.clone(), quotient));
        quotient
    }

    /// Computes a float of a format as a real.
    pub(super) fn float_literal(&mut self, format: Format, bits: u64) -> Operand {
        let value = Operand::Constant(bits);
        match (format, self.builder.format) {
            (one, other) if one == other => value,
            (Format::F32, _) => self.convert_to_real(value, Scalar::Float(format)),
            _ => match Number::from_f64(f64::from_bits(bits)) {
                Some(number) => self.literal(&number),
                // Infinite or NaN.
                None => self.convert_to_real(value, Scalar::Float(format)),
            },
        }
    }

    /// Converts a known integer of at most this magnitude to a real, exactly.
    pub(super) fn known_integer_as_real(&mut self, value: Operand, most: i128) -> Operand {
        let integer = Scalar::Integer { width: Width::B64, signed: true };
        if most <= LARGEST_SINGLE || self.builder.format == Format::F64 {
            return self.convert_to_real(value, integer);
        }
        let double = Scalar::Float(Format::F64);
        let value = self.builder.convert(value, integer, double, Rounding::NearestEven);
        // The quotient is a value of the domain, which no conversion rounds.
        let one = Operand::Constant(1.0_f64.to_bits());
        let value = self.builder.float_in(Format::F64, FloatBinary::Div, value, one);
        self.double_as_real(value.into())
    }

    /// Converts a double that is a value of the domain to a real.
    fn double_as_real(&mut self, value: Operand) -> Operand {
        match self.builder.format {
            Format::F64 => value,
            _ => self.convert_to_real(value, Scalar::Float(Format::F64)),
        }
    }

    /// Returns a number as a constant, if the format of reals has it.
    fn exact(&self, number: &Number) -> Option<Operand> {
        let double = exact_double(number)?;
        match self.builder.format {
            Format::F64 => Some(Operand::Constant(double.to_bits())),
            _ => {
                let single = double as f32;
                let is_same = f64::from(single) == double;
                is_same.then(|| Operand::Constant(u64::from(single.to_bits())))
            }
        }
    }

    /// Computes a positive integer as a sum of doubles.
    fn sum_of_doubles(&mut self, number: &UBig) -> Operand {
        let mut sum: Option<Operand> = None;
        for start in (0..number.bit_len()).step_by(DIGITS) {
            let piece = (number >> start) & ((UBig::ONE << DIGITS) - UBig::ONE);
            let digits = u64::try_from(&piece).unwrap_or(0);
            // The lexer bounds literals, so that the power is finite.
            let exponent = i32::try_from(start).unwrap_or(i32::MAX);
            let double = Operand::Constant((digits as f64 * 2f64.powi(exponent)).to_bits());
            sum = Some(match sum {
                None => double,
                Some(sum) => {
                    let op = FloatBinary::Add;
                    self.builder.float_in(Format::F64, op, sum, double).into()
                }
            });
        }
        sum.unwrap_or(Operand::Constant(0))
    }

    /// Computes an irrational constant.
    pub(super) fn constant(&mut self, constant: Constant) -> Operand {
        let before = self.builder.set_in_entry(true);
        let [one, two] = [1.0, 2.0].map(|number| self.builder.number(number));
        let value = match constant {
            Constant::Pi => self.real(RealFunction::TimesPi, one, None),
            Constant::E => self.real(RealFunction::Exp, one, None),
            Constant::Ln2 => self.real(RealFunction::Log, two, None),
            Constant::Log2E => {
                let ln2 = self.real(RealFunction::Log, two, None);
                self.builder.float(FloatBinary::Div, one, ln2).into()
            }
        };
        self.builder.set_in_entry(before);
        value
    }
}

/// Returns the number as a double, if it is one.
fn exact_double(number: &Number) -> Option<f64> {
    let double = number.to_f64_lossy();
    (Number::from_f64(double).as_ref() == Some(number)).then_some(double)
}
