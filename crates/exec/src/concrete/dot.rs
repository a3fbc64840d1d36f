//! Sums of products, as in matrix instructions (PTX manual §9.7.14.5.14, §9.7.14.4.5).
//!
//! - *Integers* wrap or are clamped after the whole sum, *bits* are counted: exact.
//! - *Doubles* are fused multiply-adds in ascending order, each rounded as the instruction says. An H200 does
//!   the same, bit for bit.
//! - *Other floats*: the manual leaves order, rounding and subnormals open ("at least single precision").
//!   Here the sum is exact and rounded once, to nearest. Tensor cores truncate bits while they align
//!   products, so they can differ from this in the last bits of the result. In all recordings the difference is
//!   below two units in the last place of the largest among the products, C and the sum. With fp8 factors and
//!   half-precision accumulators, the intermediate sums are in half precision, and so is this unit. Sums with exact
//!   intermediate values (small integers) agree bit for bit.

use super::float::fma;
use super::format::{Finite, Number, decode, encode, infinity, shift_right_sticky, to_f64};
use super::nan;
use ir::{FloatMode, Format, Rounding};

/// Computes `Σ a·b + c` of floats, rounded once; for doubles, after every step.
#[must_use]
pub fn dot_float(
    (a, b): (Format, Format),
    products: impl Iterator<Item = (u64, u64)> + Clone,
    (c, start): (Format, u64),
    (d, rounding): (Format, Rounding),
) -> u64 {
    if a == Format::F64 {
        let mode = FloatMode { rounding, ..FloatMode::NEAREST };
        let step = |sum, (x, y)| fma(Format::F64, mode, x, y, sum);
        return products.fold(start, step);
    }
    let factors = products.clone().map(|(x, y)| (to_f64(a, x), to_f64(b, y)));
    dot_widened((a, b), products, factors, (c, start), d)
}

/// Like [`dot_float`] for formats other than doubles. `factors` are the factors of `products` as doubles, converted
/// once for many sums.
pub(crate) fn dot_widened(
    (a, b): (Format, Format),
    products: impl Iterator<Item = (u64, u64)>,
    factors: impl Iterator<Item = (f64, f64)>,
    (c, start): (Format, u64),
    d: Format,
) -> u64 {
    if let Some(sum) = exact_in_doubles(factors, to_f64(c, start)) {
        return round_double(d, sum);
    }
    let mut sum = Sum::default();
    for (x, y) in products {
        sum.add_product(decode(a, x), decode(b, y));
    }
    sum.add(decode(c, start));
    sum.round(d)
}

/// Computes `Σ a·b + c` of numbers with at most 26 bits, if every partial sum is a double, as is usual. An
/// exact zero is positive.
#[inline]
fn exact_in_doubles(factors: impl Iterator<Item = (f64, f64)>, start: f64) -> Option<f64> {
    let (mut sum, mut total_error) = (start, 0.0);
    for (x, y) in factors {
        let product = x * y;
        let longer = sum + product;
        // The rounding error of a sum (Knuth's two-sum); an infinite or NaN sum gives a NaN here.
        let taken = longer - sum;
        let error: f64 = (sum - (longer - taken)) + (product - taken);
        total_error += error.abs();
        sum = longer;
    }
    (total_error == 0.0 && sum.is_finite()).then_some(sum + 0.0)
}

/// Rounds a number to a format.
fn round_double(format: Format, sum: f64) -> u64 {
    if format == Format::F32 {
        return u64::from((sum as f32).to_bits());
    }
    match decode(Format::F64, sum.to_bits()) {
        Number::Finite(number) => encode(format, Rounding::NearestEven, number),
        Number::Infinite { negative } => infinity(format, negative),
        Number::Nan => nan::canonical(format),
    }
}

/// Computes `Σ a·b + c` of integers, wrapped or clamped to 32 bits.
#[must_use]
pub fn dot_integer(products: impl Iterator<Item = (i64, i64)>, start: u64, saturate: bool) -> u64 {
    // At most 256 products of bytes, so this cannot overflow.
    let sum = products.map(|(x, y)| x * y).sum::<i64>() + i64::from(start as u32 as i32);
    let sum = match saturate {
        true => sum.clamp(i32::MIN.into(), i32::MAX.into()),
        false => sum,
    };
    u64::from(sum as u32)
}

const LIMBS: usize = 10;

/// The exponent of the lowest bit: below the product of the smallest numbers of every format here.
const LOWEST: i32 = -320;

/// An exact sum: a two's complement number in units of 2^-320, and flags for NaN and for infinities of each sign.
#[derive(Default)]
struct Sum {
    limbs: [u64; LIMBS],
    nan: bool,
    infinite: [bool; 2],
}

impl Sum {
    fn add_product(&mut self, x: Number, y: Number) {
        match (x, y) {
            (Number::Nan, _) | (_, Number::Nan) => self.nan = true,
            (Number::Finite(x), Number::Finite(y)) => self.add_finite(Finite {
                negative: x.negative != y.negative,
                significand: x.significand * y.significand,
                exponent: x.exponent + y.exponent,
            }),
            (Number::Infinite { negative }, Number::Infinite { negative: other }) => {
                self.infinite[usize::from(negative != other)] = true;
            }
            (Number::Infinite { negative }, Number::Finite(factor))
            | (Number::Finite(factor), Number::Infinite { negative }) => match factor.is_zero() {
                true => self.nan = true,
                false => self.infinite[usize::from(negative != factor.negative)] = true,
            },
        }
    }

    fn add(&mut self, number: Number) {
        match number {
            Number::Nan => self.nan = true,
            Number::Infinite { negative } => self.infinite[usize::from(negative)] = true,
            Number::Finite(number) => self.add_finite(number),
        }
    }

    fn add_finite(&mut self, number: Finite) {
        if number.is_zero() {
            return;
        }
        let shift = (number.exponent - LOWEST) as usize;
        let (limb, bits) = (shift / 64, shift % 64);
        let low = number.significand << bits;
        let parts = [low as u64, (low >> 64) as u64];
        let mut carry = false;
        for (position, limb) in self.limbs[limb..].iter_mut().enumerate() {
            let part = parts.get(position).copied().unwrap_or(0);
            if position >= 2 && !carry {
                return;
            }
            let (first, second);
            (*limb, first) = match number.negative {
                true => limb.overflowing_sub(part),
                false => limb.overflowing_add(part),
            };
            (*limb, second) = match number.negative {
                true => limb.overflowing_sub(u64::from(carry)),
                false => limb.overflowing_add(u64::from(carry)),
            };
            carry = first || second;
        }
    }

    fn round(mut self, format: Format) -> u64 {
        match self.infinite {
            _ if self.nan => return nan::canonical(format),
            [true, true] => return nan::canonical(format),
            [true, false] => return infinity(format, false),
            [false, true] => return infinity(format, true),
            [false, false] => {}
        }
        let negative = self.limbs[LIMBS - 1] >> 63 == 1;
        if negative {
            self.negate();
        }
        let Some(top) = self.limbs.iter().rposition(|&limb| limb != 0) else {
            return encode(format, Rounding::NearestEven, Finite::zero(false));
        };
        let below = top.saturating_sub(1);
        let high = u128::from(self.limbs[top]) << 64 | u128::from(self.limbs[below]);
        let high = if top == 0 { u128::from(self.limbs[0]) } else { high };
        let rest = self.limbs[..below].iter().any(|&limb| limb != 0);
        // Leave room for the sticky bit.
        let significand = shift_right_sticky(high, 1) | u128::from(rest);
        let exponent = LOWEST + 64 * below as i32 + 1;
        encode(format, Rounding::NearestEven, Finite { negative, significand, exponent })
    }

    fn negate(&mut self) {
        let mut carry = true;
        for limb in &mut self.limbs {
            (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::Random;

    fn single(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    fn sum(pairs: &[(f32, f32)], start: f32) -> f32 {
        let products = pairs.iter().map(|&(x, y)| (single(x), single(y)));
        let tf32 = (Format::Tf32, Format::Tf32);
        let nearest = (Format::F32, Rounding::NearestEven);
        let bits = dot_float(tf32, products, (Format::F32, single(start)), nearest);
        f32::from_bits(bits as u32)
    }

    #[test]
    fn sums_are_exact_before_they_are_rounded() {
        assert_eq!(sum(&[(3.0, 5.0), (-2.0, 4.0)], 0.5), 7.5);
        assert_eq!(sum(&[(1e30, 1e8), (1.0, 1.0), (-1e30, 1e8)], 0.0), 1.0);
        assert_eq!(sum(&[(1.0, -1.0)], 1.0).to_bits(), 0);
        assert_eq!(sum(&[], -3.0), -3.0);
        assert_eq!(sum(&[(f32::MAX, 2.0)], 0.0), f32::INFINITY);
        assert_eq!(sum(&[(2f32.powi(-100), 2f32.powi(-49))], 0.0), 2f32.powi(-149));
        // A tie, broken by a tiny summand.
        let tie = [(1.0, 1.0), (2f32.powi(-12), 2f32.powi(-12))];
        assert_eq!(sum(&tie, 0.0), 1.0);
        let broken = [tie[0], tie[1], (2f32.powi(-126), 2f32.powi(-126))];
        assert_eq!(sum(&broken, 0.0), 1.0 + f32::EPSILON);
    }

    /// Random bits: many of medium size, and some at the ends of the format.
    fn bits(format: Format, random: &mut Random) -> u64 {
        let drawn = random.bits();
        let small = ((drawn % 33) as f64 - 16.0) / 4.0;
        match (drawn >> 36) % 8 {
            0..5 => match decode(Format::F64, small.to_bits()) {
                Number::Finite(number) => encode(format, Rounding::NearestEven, number),
                _ => 0,
            },
            _ => drawn & (u64::MAX >> (64 - format.width().bits())),
        }
    }

    #[test]
    fn sums_in_doubles_are_the_exact_ones() {
        use Format::{Bf16, E4m3, E5m2, F16, F32, Tf32};
        let mut random = Random::new(7);
        let mut in_doubles = 0;
        for round in 0..60_000 {
            let (a, b) =
                [(F16, F16), (Bf16, Bf16), (Tf32, Tf32), (E4m3, E5m2), (E5m2, E5m2)][round % 5];
            let (c, d) = [(F32, F32), (F16, F16), (F16, F32)][round % 3];
            let products: Vec<(u64, u64)> =
                (0..round % 17).map(|_| (bits(a, &mut random), bits(b, &mut random))).collect();
            let start = bits(c, &mut random);
            let mut sum = Sum::default();
            products.iter().for_each(|&(x, y)| sum.add_product(decode(a, x), decode(b, y)));
            sum.add(decode(c, start));
            let exact = sum.round(d);
            let nearest = (d, Rounding::NearestEven);
            let found = dot_float((a, b), products.iter().copied(), (c, start), nearest);
            assert_eq!(found, exact, "{a:?} {b:?} {c:?} {d:?} {products:x?} {start:x}");
            let factors = products.iter().map(|&(x, y)| (to_f64(a, x), to_f64(b, y)));
            in_doubles += usize::from(exact_in_doubles(factors, to_f64(c, start)).is_some());
        }
        assert!(in_doubles > 15_000, "{in_doubles}");
    }

    #[test]
    fn infinities_and_nans() {
        assert_eq!(sum(&[(f32::INFINITY, -1.0)], 1.0), f32::NEG_INFINITY);
        assert!(sum(&[(f32::INFINITY, 0.0)], 1.0).is_nan());
        assert!(sum(&[(f32::INFINITY, 1.0)], f32::NEG_INFINITY).is_nan());
        assert!(sum(&[(f32::NAN, 1.0)], 0.0).is_nan());
    }

    #[test]
    fn integers_wrap_or_are_clamped_at_the_end() {
        let products = [(127, 127), (-128, 127)];
        let start = i32::MAX.cast_unsigned().into();
        let wrapped = dot_integer(products.into_iter(), start, false) as u32;
        assert_eq!(wrapped.cast_signed(), i32::MAX - 127);
        let above = [(127, 127)].into_iter();
        assert_eq!(dot_integer(above.clone(), start, true), start);
        assert_eq!(dot_integer(above, start, false) as i32, i32::MIN + 127 * 127 - 1);
    }
}
