//! Exact rational numbers in three tiers: `i64 · 2^k`, `i64 / i64`, and big rationals.
//!
//! Every constant of a program is a binary float, so nearly all coefficients stay in the first
//! tier, where an addition is a shift and a checked add. A number that does not fit moves to the
//! next tier and comes back when it shrinks: each value has exactly one representation, so that
//! derived equality and hashing are equality of values. Nothing here rounds.

use dashu_base::{BitTest, Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

/// An exact rational number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(Repr);

/// The tiers. Invariant: a value sits in the first tier that can hold it, in lowest terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Repr {
    /// `mantissa · 2^exponent`, the mantissa odd, or zero with exponent 0.
    Dyadic { mantissa: i64, exponent: i32 },
    /// Lowest terms, the denominator positive and not a power of two.
    Ratio { numerator: i64, denominator: i64 },
    /// Everything else.
    Big(Box<RBig>),
}

/// Largest power-of-two exponent the dyadic tier keeps; beyond it arithmetic is on big rationals.
const DYADIC_LIMIT: i32 = 1 << 20;

impl Number {
    /// 0.
    pub const ZERO: Self = Self(Repr::Dyadic { mantissa: 0, exponent: 0 });
    /// 1.
    pub const ONE: Self = Self(Repr::Dyadic { mantissa: 1, exponent: 0 });
    /// −1.
    pub const MINUS_ONE: Self = Self(Repr::Dyadic { mantissa: -1, exponent: 0 });

    /// `numerator / denominator`, or `None` for a zero denominator.
    #[must_use]
    pub fn ratio(numerator: i64, denominator: i64) -> Option<Self> {
        (denominator != 0).then(|| from_ratio(i128::from(numerator), i128::from(denominator)))
    }

    /// `mantissa · 2^exponent`.
    #[must_use]
    pub fn dyadic(mantissa: i64, exponent: i32) -> Self {
        from_dyadic(i128::from(mantissa), i64::from(exponent))
    }

    /// Returns the exact value of a float; `None` for infinities and NaN.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let bits = value.to_bits();
        let biased = ((bits >> 52) & 0x7ff) as i32;
        let fraction = (bits & ((1 << 52) - 1)) as i64;
        let (magnitude, exponent) =
            if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), biased - 1075) };
        Some(Self::dyadic(if value < 0.0 { -magnitude } else { magnitude }, exponent))
    }

    /// Returns the number as a big rational.
    #[must_use]
    pub fn to_big(&self) -> RBig {
        match &self.0 {
            Repr::Dyadic { mantissa, exponent } => {
                let magnitude = UBig::ONE << exponent.unsigned_abs() as usize;
                if *exponent >= 0 {
                    RBig::from(IBig::from(*mantissa) * IBig::from(magnitude))
                } else {
                    RBig::from_parts(IBig::from(*mantissa), magnitude)
                }
            }
            Repr::Ratio { numerator, denominator } => {
                RBig::from_parts(IBig::from(*numerator), UBig::from(denominator.unsigned_abs()))
            }
            Repr::Big(big) => (**big).clone(),
        }
    }

    /// Returns the number a big rational stands for, in its smallest tier.
    #[must_use]
    pub fn from_big(value: RBig) -> Self {
        let (numerator, denominator) = value.into_parts();
        let shift = denominator.trailing_zeros().unwrap_or(0);
        if (denominator.clone() >> shift).is_one() {
            let zeros = (&numerator).unsigned_abs().trailing_zeros().unwrap_or(0);
            let exponent = zeros as i64 - shift as i64;
            if let Ok(mantissa) = i64::try_from(&(numerator.clone() >> zeros))
                && exponent.unsigned_abs() <= DYADIC_LIMIT.unsigned_abs().into()
            {
                return from_dyadic(i128::from(mantissa), exponent);
            }
        } else if let (Ok(numerator), Ok(denominator)) =
            (i64::try_from(&numerator), i64::try_from(&denominator))
        {
            return Self(Repr::Ratio { numerator, denominator });
        }
        Self(Repr::Big(Box::new(RBig::from_parts(numerator, denominator))))
    }

    /// Returns `true` if this is 0.
    #[must_use]
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Dyadic { mantissa: 0, .. })
    }

    /// Returns `true` if this is 1.
    #[must_use]
    #[inline]
    pub fn is_one(&self) -> bool {
        matches!(self.0, Repr::Dyadic { mantissa: 1, exponent: 0 })
    }

    /// −1, 0 or 1.
    #[must_use]
    #[inline]
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Repr::Dyadic { mantissa, .. } => mantissa.signum() as i32,
            Repr::Ratio { numerator, .. } => numerator.signum() as i32,
            Repr::Big(big) => match (big.is_zero(), big.sign()) {
                (true, _) => 0,
                (false, Sign::Positive) => 1,
                (false, Sign::Negative) => -1,
            },
        }
    }

    /// Returns `true` if this is below zero.
    #[must_use]
    #[inline]
    pub fn is_negative(&self) -> bool {
        self.signum() < 0
    }

    /// Returns the absolute value.
    #[must_use]
    pub fn abs(&self) -> Self {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// `1 / self`, or `None` for zero.
    #[must_use]
    pub fn reciprocal(&self) -> Option<Self> {
        match &self.0 {
            Repr::Dyadic { mantissa: 0, .. } => None,
            Repr::Dyadic { mantissa: mantissa @ (1 | -1), exponent } => {
                Some(from_dyadic(i128::from(*mantissa), -i64::from(*exponent)))
            }
            Repr::Ratio { numerator, denominator } => {
                Some(from_ratio(i128::from(*denominator), i128::from(*numerator)))
            }
            Repr::Dyadic { .. } | Repr::Big(_) => Some(Self::from_big(RBig::ONE / self.to_big())),
        }
    }

    /// Returns the value as an integer, if it is one that fits.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Dyadic { mantissa: 0, .. } => Some(0),
            Repr::Dyadic { mantissa, exponent: exponent @ 0..=62 } => {
                i64::try_from(i128::from(*mantissa) << exponent).ok()
            }
            Repr::Dyadic { .. } | Repr::Ratio { .. } | Repr::Big(_) => None,
        }
    }

    /// Numerator and denominator in lowest terms, if both fit.
    #[must_use]
    pub fn to_small_ratio(&self) -> Option<(i64, i64)> {
        match &self.0 {
            Repr::Dyadic { mantissa, exponent: exponent @ -62..0 } => {
                Some((*mantissa, 1 << -exponent))
            }
            Repr::Dyadic { .. } => self.to_i64().map(|integer| (integer, 1)),
            Repr::Ratio { numerator, denominator } => Some((*numerator, *denominator)),
            Repr::Big(_) => None,
        }
    }

    /// Returns a nearby float, for searching only: never part of a verdict.
    #[must_use]
    pub fn to_f64_lossy(&self) -> f64 {
        match &self.0 {
            Repr::Dyadic { mantissa, exponent } if exponent.unsigned_abs() < 900 => {
                *mantissa as f64 * 2f64.powi(*exponent)
            }
            Repr::Ratio { numerator, denominator } => *numerator as f64 / *denominator as f64,
            Repr::Dyadic { .. } | Repr::Big(_) => self.to_big().to_f64_fast(),
        }
    }

    /// Finds the square root, if it is a rational of small numerator and denominator.
    #[must_use]
    pub fn exact_square_root(&self) -> Option<Self> {
        let root = |square: i64| {
            let root = u64::try_from(square).ok()?.isqrt();
            (root * root == square as u64).then_some(root as i64)
        };
        let (numerator, denominator) = self.to_small_ratio()?;
        Self::ratio(root(numerator)?, root(denominator)?)
    }

    /// `self` to an integer power; `None` for 0 to a negative power.
    #[must_use]
    pub fn integer_power(&self, power: i32) -> Option<Self> {
        let base = if power < 0 { self.reciprocal()? } else { self.clone() };
        let mut remaining = power.unsigned_abs();
        let (mut result, mut square) = (Self::ONE, base);
        while remaining > 0 {
            if remaining & 1 == 1 {
                result = &result * &square;
            }
            remaining >>= 1;
            if remaining > 0 {
                square = &square * &square;
            }
        }
        Some(result)
    }

    /// Returns a number that equal values share, for hashing.
    #[must_use]
    #[inline]
    pub fn fingerprint(&self) -> u64 {
        match &self.0 {
            Repr::Dyadic { mantissa, exponent } => {
                (*mantissa as u64) ^ (*exponent as u64).rotate_left(48)
            }
            Repr::Ratio { numerator, denominator } => {
                (*numerator as u64) ^ (*denominator as u64).rotate_left(32)
            }
            Repr::Big(big) => big.numerator().bit_len() as u64,
        }
    }

    /// Number of bits of the larger of numerator and denominator.
    #[must_use]
    pub fn bits(&self) -> usize {
        match &self.0 {
            Repr::Dyadic { exponent, .. } => 64 + exponent.unsigned_abs() as usize,
            Repr::Ratio { .. } => 64,
            Repr::Big(big) => big.numerator().bit_len().max(big.denominator().bit_len()),
        }
    }
}

/// Lowest tier for `mantissa · 2^exponent`.
#[inline]
fn from_dyadic(mantissa: i128, exponent: i64) -> Number {
    if mantissa == 0 {
        return Number::ZERO;
    }
    let zeros = mantissa.trailing_zeros();
    let (odd, exponent) = (mantissa >> zeros, exponent + i64::from(zeros));
    match (i64::try_from(odd), i32::try_from(exponent)) {
        (Ok(mantissa), Ok(exponent)) if exponent.abs() <= DYADIC_LIMIT => {
            Number(Repr::Dyadic { mantissa, exponent })
        }
        _ => {
            let scale = RBig::from(UBig::ONE << exponent.unsigned_abs() as usize);
            let odd = RBig::from(IBig::from(odd));
            let value = if exponent >= 0 { odd * scale } else { odd / scale };
            // Straight into the last tier: `from_big` would reach the same with more work.
            Number(Repr::Big(Box::new(value)))
        }
    }
}

/// Lowest tier for a quotient with non-zero denominator.
fn from_ratio(numerator: i128, denominator: i128) -> Number {
    if numerator == 0 {
        return Number::ZERO;
    }
    let divisor = gcd(numerator.unsigned_abs(), denominator.unsigned_abs());
    let sign = if (numerator < 0) == (denominator < 0) { 1 } else { -1 };
    let top = numerator.unsigned_abs() / divisor;
    let bottom = denominator.unsigned_abs() / divisor;
    if bottom.is_power_of_two()
        && let Ok(top) = i128::try_from(top)
    {
        return from_dyadic(sign * top, -i64::from(bottom.trailing_zeros()));
    }
    match (i64::try_from(top), i64::try_from(bottom)) {
        (Ok(top), Ok(denominator)) => {
            Number(Repr::Ratio { numerator: sign as i64 * top, denominator })
        }
        _ => {
            let numerator = IBig::from(top) * IBig::from(sign);
            Number::from_big(RBig::from_parts(numerator, UBig::from(bottom)))
        }
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Add for &Number {
    type Output = Number;
    #[inline]
    fn add(self, other: &Number) -> Number {
        match (&self.0, &other.0) {
            (
                Repr::Dyadic { mantissa: a, exponent: e },
                Repr::Dyadic { mantissa: b, exponent: f },
            ) => {
                let low = (*e).min(*f);
                let (up_a, up_b) = (e - low, f - low);
                if up_a <= 62 && up_b <= 62 {
                    let sum = (i128::from(*a) << up_a) + (i128::from(*b) << up_b);
                    return from_dyadic(sum, low.into());
                }
                // A shift of a zero mantissa is never needed.
                if *a == 0 {
                    return other.clone();
                }
                if *b == 0 {
                    return self.clone();
                }
                Number::from_big(self.to_big() + other.to_big())
            }
            _ => match (self.to_small_ratio(), other.to_small_ratio()) {
                (Some((a, b)), Some((c, d))) => {
                    let [a, b, c, d] = [a, b, c, d].map(i128::from);
                    match (a * d).checked_add(c * b) {
                        Some(sum) => from_ratio(sum, b * d),
                        None => Number::from_big(self.to_big() + other.to_big()),
                    }
                }
                _ => Number::from_big(self.to_big() + other.to_big()),
            },
        }
    }
}

impl Mul for &Number {
    type Output = Number;
    #[inline]
    fn mul(self, other: &Number) -> Number {
        if let (
            Repr::Dyadic { mantissa: a, exponent: e },
            Repr::Dyadic { mantissa: b, exponent: f },
        ) = (&self.0, &other.0)
        {
            // Odd times odd is odd, so a product that fits is in lowest terms already.
            let (product, overflow) = a.overflowing_mul(*b);
            let exponent = e + f;
            if !overflow && product != 0 && exponent.abs() <= DYADIC_LIMIT {
                return Number(Repr::Dyadic { mantissa: product, exponent });
            }
            return from_dyadic(i128::from(*a) * i128::from(*b), i64::from(*e) + i64::from(*f));
        }
        match (self.to_small_ratio(), other.to_small_ratio()) {
            (Some((a, b)), Some((c, d))) => {
                from_ratio(i128::from(a) * i128::from(c), i128::from(b) * i128::from(d))
            }
            _ => Number::from_big(self.to_big() * other.to_big()),
        }
    }
}

impl Neg for &Number {
    type Output = Number;
    #[inline]
    fn neg(self) -> Number {
        match &self.0 {
            Repr::Dyadic { mantissa, exponent } => {
                from_dyadic(-i128::from(*mantissa), (*exponent).into())
            }
            Repr::Ratio { numerator, denominator } => {
                from_ratio(-i128::from(*numerator), (*denominator).into())
            }
            Repr::Big(big) => Number::from_big(-(**big).clone()),
        }
    }
}

impl Sub for &Number {
    type Output = Number;
    fn sub(self, other: &Number) -> Number {
        self + &-other
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.to_small_ratio(), other.to_small_ratio()) {
            (Some((a, b)), Some((c, d))) => {
                (i128::from(a) * i128::from(d)).cmp(&(i128::from(c) * i128::from(b)))
            }
            _ => self.to_big().cmp(&other.to_big()),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        from_dyadic(value.into(), 0)
    }
}

impl fmt::Display for Number {
    /// `7`, `-3/4`, or `m*2^k` where the plain quotient would be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.to_small_ratio(), &self.0) {
            (Some((numerator, 1)), _) => write!(f, "{numerator}"),
            (Some((numerator, denominator)), _) => write!(f, "{numerator}/{denominator}"),
            (None, Repr::Dyadic { mantissa, exponent }) => write!(f, "{mantissa}*2^{exponent}"),
            (None, Repr::Ratio { .. } | Repr::Big(_)) => {
                let big = self.to_big();
                write!(f, "{}/{}", big.numerator(), big.denominator())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_one_representation() {
        let third = Number::ratio(1, 3).unwrap();
        let two_thirds = &third + &third;
        assert_eq!(&two_thirds + &third, Number::ONE);
        assert_eq!(Number::ratio(6, -8).unwrap(), Number::dyadic(-3, -2));
        let huge = Number::dyadic(1, 200);
        assert_eq!(&(&huge + &third) - &huge, third);
        assert_eq!(&(&huge + &Number::ONE) - &huge, Number::ONE);
        assert_eq!(&Number::from(i64::MIN) + &Number::from(i64::MAX), Number::MINUS_ONE);
        assert_eq!(-&Number::from(i64::MIN), Number::dyadic(1, 63));
    }

    #[test]
    fn big_dyadics_come_back() {
        let a = &(&Number::dyadic(1, 100) + &Number::ONE) * &Number::dyadic(1, -3);
        let b = &a - &Number::dyadic(1, 97);
        assert_eq!(b, Number::dyadic(1, -3));
        assert_eq!(
            Number::from_f64(0.1).unwrap().to_string(),
            "3602879701896397/36028797018963968"
        );
        assert_eq!(Number::from_f64(-5e-324).unwrap(), Number::dyadic(-1, -1074));
    }

    #[test]
    fn order_and_powers() {
        assert!(Number::ratio(1, 3).unwrap() < Number::dyadic(1, -1));
        assert_eq!(Number::from(-2).integer_power(-3), Number::ratio(-1, 8));
        assert_eq!(Number::ZERO.integer_power(-1), None);
        assert_eq!(Number::ZERO.integer_power(0), Some(Number::ONE));
    }
}
