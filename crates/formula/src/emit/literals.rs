//! Exact literals: a fraction is the quotient of two integers, and an integer a sum of doubles.

use super::Emitter;
use crate::typed::Constant;
use dashu_base::{BitTest, Sign, UnsignedAbs};
use dashu_int::UBig;
use ir::{FloatBinary, Format, Op, Operand, RealFunction, Width};
use term::Number;

/// Bits of an integer that is a double whatever they are.
const DIGITS: usize = 53;

impl Emitter<'_> {
    /// A literal as a double, or as a value that is made of doubles.
    pub(super) fn literal(&mut self, number: &Number) -> Operand {
        if let Some(double) = exact_double(number) {
            return Operand::Constant(double.to_bits());
        }
        if let Some((_, known)) = self.literals.iter().find(|(one, _)| one == number) {
            return *known;
        }
        let before = self.builder.set_early(true);
        let big = number.to_big();
        let (sign, above) = (big.numerator().sign(), big.numerator().unsigned_abs());
        let above = self.whole(&above);
        let below = self.whole(big.denominator());
        let mut quotient = Operand::from(self.builder.double(FloatBinary::Div, above, below));
        if sign == Sign::Negative {
            let zero = Operand::Constant(0);
            quotient = self.builder.double(FloatBinary::Sub, zero, quotient).into();
        }
        self.builder.set_early(before);
        self.literals.push((number.clone(), quotient));
        quotient
    }

    /// A positive integer as a sum of doubles.
    fn whole(&mut self, number: &UBig) -> Operand {
        let mut sum: Option<Operand> = None;
        for start in (0..number.bit_len()).step_by(DIGITS) {
            let piece = (number >> start) & ((UBig::ONE << DIGITS) - UBig::ONE);
            let digits = u64::try_from(&piece).unwrap_or(0);
            // The lexer bounds literals, so that the power is finite.
            let exponent = i32::try_from(start).unwrap_or(i32::MAX);
            let double = Operand::Constant((digits as f64 * 2f64.powi(exponent)).to_bits());
            sum = Some(match sum {
                None => double,
                Some(sum) => self.builder.double(FloatBinary::Add, sum, double).into(),
            });
        }
        sum.unwrap_or(Operand::Constant(0))
    }

    /// An irrational constant.
    pub(super) fn constant(&mut self, constant: Constant) -> Operand {
        let before = self.builder.set_early(true);
        let [one, two] = [1.0_f64, 2.0].map(|number| Operand::Constant(number.to_bits()));
        let mut real = |function, a| -> Operand {
            let dst = self.builder.register(Width::B64);
            let format = Format::F64;
            self.builder.push(Op::Real { function, format, range: None, dst, a, b: None });
            dst.into()
        };
        let value = match constant {
            Constant::Pi => real(RealFunction::TimesPi, one),
            Constant::E => real(RealFunction::Exp, one),
            Constant::Ln2 => real(RealFunction::Log, two),
            Constant::Log2E => {
                let ln2 = real(RealFunction::Log, two);
                self.builder.double(FloatBinary::Div, one, ln2).into()
            }
        };
        self.builder.set_early(before);
        value
    }
}

/// The double that a number is, if it is one.
fn exact_double(number: &Number) -> Option<f64> {
    let double = number.to_f64_lossy();
    (Number::from_f64(double).as_ref() == Some(number)).then_some(double)
}
