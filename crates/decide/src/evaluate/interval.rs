//! Intervals with binary endpoints of arbitrary exponent, rounded outward at 256 bits.

use dashu_base::{BitTest, DivRemEuclid, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use std::cmp::Ordering;
use std::fmt;
use term::Number;

/// Bits an endpoint keeps.
const PRECISION: usize = 256;

/// `mantissa · 2^exponent`.
#[derive(Clone, Debug)]
pub(super) struct Binary {
    pub(super) mantissa: IBig,
    pub(super) exponent: i64,
}

impl Binary {
    pub(super) fn new(mantissa: IBig, exponent: i64) -> Self {
        Self { mantissa, exponent }
    }

    pub(super) fn integer(value: i64) -> Self {
        Self::new(IBig::from(value), 0)
    }

    /// Returns the nearest representable value on the given side.
    fn rounded(self, up: bool) -> Self {
        let length = self.mantissa.bit_len();
        if length <= PRECISION {
            return self;
        }
        let drop = length - PRECISION;
        Self::new(shift_right(self.mantissa, drop, up), self.exponent + drop as i64)
    }

    pub(super) fn signum(&self) -> i32 {
        match self.mantissa.cmp(&IBig::ZERO) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    pub(super) fn negated(&self) -> Self {
        Self::new(-&self.mantissa, self.exponent)
    }

    fn times(&self, other: &Self) -> Self {
        Self::new(&self.mantissa * &other.mantissa, self.exponent + other.exponent)
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let (a, b) = aligned(self, other);
        Self::new(a + b, self.exponent.min(other.exponent))
    }

    /// Returns the floor of `self · 2^scale`, or its ceiling if `up` is set.
    pub(super) fn to_fixed(&self, scale: i64, up: bool) -> IBig {
        let shift = self.exponent + scale;
        if shift >= 0 {
            &self.mantissa << shift as usize
        } else {
            shift_right(self.mantissa.clone(), shift.unsigned_abs() as usize, up)
        }
    }

    pub(super) fn to_number(&self) -> Number {
        let scale = RBig::from(UBig::ONE << self.exponent.unsigned_abs() as usize);
        let mantissa = RBig::from(self.mantissa.clone());
        Number::from_big(if self.exponent >= 0 { mantissa * scale } else { mantissa / scale })
    }

    /// Returns the number of bits before the binary point: `|self| < 2^magnitude`.
    pub(super) fn magnitude(&self) -> i64 {
        self.mantissa.bit_len() as i64 + self.exponent
    }
}

/// Returns both mantissas at the smaller exponent.
fn aligned(a: &Binary, b: &Binary) -> (IBig, IBig) {
    let low = a.exponent.min(b.exponent);
    let up = |x: &Binary| &x.mantissa << (x.exponent - low) as usize;
    (up(a), up(b))
}

/// Shifts right by some bits. Rounds towards −∞, or towards +∞ if `up` is set.
fn shift_right(value: IBig, by: usize, up: bool) -> IBig {
    // All bits are lost: the divisor of a tiny number would have as many bits as its exponent is large.
    if by > value.bit_len() {
        return match (value.cmp(&IBig::ZERO), up) {
            (Ordering::Less, false) => IBig::NEG_ONE,
            (Ordering::Greater, true) => IBig::ONE,
            _ => IBig::ZERO,
        };
    }
    let divisor = IBig::from(UBig::ONE << by);
    let (quotient, remainder) = value.div_rem_euclid(divisor);
    if up && !remainder.is_zero() { quotient + IBig::ONE } else { quotient }
}

impl PartialEq for Binary {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Binary {}

impl PartialOrd for Binary {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Binary {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.signum().cmp(&other.signum());
        if signs != Ordering::Equal || self.signum() == 0 {
            return signs;
        }
        // If the magnitudes differ, the leading bits decide; otherwise the shift is affordable.
        match self.magnitude().cmp(&other.magnitude()) {
            Ordering::Equal => {
                let (a, b) = aligned(self, other);
                a.cmp(&b)
            }
            unequal if self.signum() > 0 => unequal,
            unequal => unequal.reverse(),
        }
    }
}

/// A closed interval that contains the exact value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    pub(super) low: Binary,
    pub(super) high: Binary,
}

/// Exponents further apart than this are not aligned; the sum is `None`.
const MAX_EXPONENT_GAP: i64 = 1 << 20;

impl Interval {
    pub(super) fn new(low: Binary, high: Binary) -> Self {
        Self { low: low.rounded(false), high: high.rounded(true) }
    }

    pub(super) fn point(value: Binary) -> Self {
        Self::new(value.clone(), value)
    }

    /// Returns the smallest interval around a rational.
    #[must_use]
    pub fn of_number(value: &Number) -> Self {
        let big = value.to_big();
        let one = Self::point(Binary::new(big.numerator().clone(), 0));
        if big.denominator().is_one() {
            return one;
        }
        let denominator = Self::point(Binary::new(IBig::from(big.denominator().clone()), 0));
        // A denominator is not zero, so the quotient exists.
        one.divided_by(&denominator).unwrap_or(one)
    }

    /// Returns `true` if the two have no value in common, so that the exact values differ.
    #[must_use]
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.high < other.low || other.high < self.low
    }

    /// Returns `true` if this is one exact value.
    #[must_use]
    pub fn is_point(&self) -> bool {
        self.low == self.high
    }

    /// Returns the sign, if all values have the same.
    #[must_use]
    pub fn sign(&self) -> Option<i32> {
        let (low, high) = (self.low.signum(), self.high.signum());
        if low > 0 || high < 0 || (low == 0 && high == 0) { Some(low) } else { None }
    }

    /// Returns a float close to the lower bound, for printing.
    #[must_use]
    pub fn to_f64_lossy(&self) -> f64 {
        let bits = self.low.mantissa.bit_len();
        let drop = bits.saturating_sub(60);
        let mantissa = i64::try_from(&shift_right(self.low.mantissa.clone(), drop, false));
        let exponent = self.low.exponent + drop as i64;
        let exponent = i32::try_from(exponent.clamp(-3000, 3000)).unwrap_or(0);
        // Two steps, so that neither power overflows before the product does.
        mantissa.unwrap_or(0) as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
    }

    /// `−self`
    #[must_use]
    pub fn negated(&self) -> Self {
        Self { low: self.high.negated(), high: self.low.negated() }
    }

    /// `self + other`; `None` if exponents are too far apart.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let ends = [&self.low, &self.high, &other.low, &other.high];
        let exponents = ends.into_iter().filter(|end| end.signum() != 0).map(|end| end.exponent);
        let (least, most) = exponents.fold((i64::MAX, i64::MIN), |(a, b), e| (a.min(e), b.max(e)));
        if least < most && most - least > MAX_EXPONENT_GAP {
            return None;
        }
        Some(Self::new(self.low.plus(&other.low), self.high.plus(&other.high)))
    }

    /// `self − other`, like [`plus`](Self::plus).
    #[must_use]
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.negated())
    }

    /// `self · other`
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        if self.is_point() && other.is_point() {
            return Self::point(self.low.times(&other.low));
        }
        let products = [
            self.low.times(&other.low),
            self.low.times(&other.high),
            self.high.times(&other.low),
            self.high.times(&other.high),
        ];
        let mut low = products[0].clone();
        let mut high = products[0].clone();
        for product in products.into_iter().skip(1) {
            if product < low {
                low = product.clone();
            }
            if product > high {
                high = product;
            }
        }
        Self::new(low, high)
    }

    /// `self / divisor`; `None` where the divisor may be zero.
    #[must_use]
    pub fn divided_by(&self, divisor: &Self) -> Option<Self> {
        divisor.sign().filter(|sign| *sign != 0)?;
        let low = quotient(&Binary::integer(1), &divisor.high, false);
        let high = quotient(&Binary::integer(1), &divisor.low, true);
        if self.is_point() && divisor.is_point() {
            let down = quotient(&self.low, &divisor.low, false);
            return Some(Self::new(down, quotient(&self.low, &divisor.low, true)));
        }
        Some(self.times(&Self::new(low, high)))
    }

    /// `√self`; `None` where the argument may be negative.
    #[must_use]
    pub fn square_root(&self) -> Option<Self> {
        if self.low.signum() < 0 {
            return None;
        }
        Some(Self::new(root(&self.low, false), root(&self.high, true)))
    }

    pub(super) fn integer_power(&self, power: i32) -> Option<Self> {
        let mut result = Self::point(Binary::integer(1));
        let mut square = self.clone();
        let mut left = power.unsigned_abs();
        if left > 1 << 16 {
            return None;
        }
        while left > 0 {
            if left & 1 == 1 {
                result = result.times(&square);
            }
            square = square.squared();
            left >>= 1;
        }
        if power < 0 { Self::point(Binary::integer(1)).divided_by(&result) } else { Some(result) }
    }

    fn squared(&self) -> Self {
        if self.sign().is_some() {
            return self.times(self);
        }
        let (a, b) = (self.low.times(&self.low), self.high.times(&self.high));
        Self::new(Binary::integer(0), if a > b { a } else { b })
    }

    /// Returns the larger of the two.
    #[must_use]
    pub fn maximum(&self, other: &Self) -> Self {
        let larger = |a: &Binary, b: &Binary| if a < b { b.clone() } else { a.clone() };
        Self { low: larger(&self.low, &other.low), high: larger(&self.high, &other.high) }
    }

    /// Returns the smallest interval around both.
    #[must_use]
    pub fn hull(&self, other: &Self) -> Self {
        let low = if self.low < other.low { &self.low } else { &other.low };
        let high = if self.high > other.high { &self.high } else { &other.high };
        Self { low: low.clone(), high: high.clone() }
    }

    /// Returns the interval made wider by `amount` on both sides.
    pub(super) fn widened(&self, amount: &Binary) -> Self {
        Self::new(sum(&self.low, &amount.negated(), false), sum(&self.high, amount, true))
    }

    /// Returns the width, or a little more.
    pub(super) fn width(&self) -> Binary {
        sum(&self.high, &self.low.negated(), true)
    }
}

/// `a + b`; exact, or rounded to the given side if the exponents are far apart.
fn sum(a: &Binary, b: &Binary, up: bool) -> Binary {
    let (large, small) = if a.exponent < b.exponent { (b, a) } else { (a, b) };
    if large.signum() == 0 || small.signum() == 0 {
        return if large.signum() == 0 { small.clone() } else { large.clone() };
    }
    if large.exponent - small.exponent <= MAX_EXPONENT_GAP {
        return a.plus(b);
    }
    // The smaller one is far below this unit: mantissas have a few hundred bits.
    let unit = Binary::new(IBig::ONE, large.exponent - PRECISION as i64);
    match (small.signum() > 0, up) {
        (true, true) => large.plus(&unit),
        (false, false) => large.plus(&unit.negated()),
        _ => large.clone(),
    }
}

/// `a / b` rounded to [`PRECISION`] bits on the given side; `b` is not zero.
fn quotient(a: &Binary, b: &Binary, up: bool) -> Binary {
    let (a, b) = if b.signum() < 0 { (a.negated(), b.negated()) } else { (a.clone(), b.clone()) };
    let shift = (PRECISION + 2 + b.mantissa.bit_len()).saturating_sub(a.mantissa.bit_len());
    let (quotient, remainder) = (a.mantissa << shift).div_rem_euclid(b.mantissa);
    let quotient = if up && !remainder.is_zero() { quotient + IBig::ONE } else { quotient };
    Binary::new(quotient, a.exponent - shift as i64 - b.exponent)
}

/// Computes the square root of a number that is not negative, rounded to the given side.
fn root(value: &Binary, up: bool) -> Binary {
    let mut shift = (2 * PRECISION + 2).saturating_sub(value.mantissa.bit_len()) as i64;
    if (value.exponent - shift) % 2 != 0 {
        shift += 1;
    }
    let radicand = (&value.mantissa << shift as usize).unsigned_abs();
    let floor = radicand.sqrt();
    let exact = &floor * &floor == radicand;
    let root = IBig::from(floor);
    Binary::new(if up && !exact { root + IBig::ONE } else { root }, (value.exponent - shift) / 2)
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.12e}", self.to_f64_lossy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(numerator: i64, denominator: i64) -> Interval {
        Interval::of_number(&Number::ratio(numerator, denominator).unwrap())
    }

    #[test]
    fn rounding_is_outward_on_both_sides_of_zero() {
        assert_eq!(shift_right(IBig::from(-5), 1, false), IBig::from(-3));
        assert_eq!(shift_right(IBig::from(-5), 1, true), IBig::from(-2));
        assert_eq!(shift_right(IBig::from(5), 1, true), IBig::from(3));
        let third = number(1, 3);
        assert!(third.low < third.high);
        let one = third.plus(&third).unwrap().plus(&third).unwrap();
        assert!(!one.is_disjoint(&number(1, 1)));
        assert!(one.is_disjoint(&number(1_000_001, 1_000_000)));
        let minus = number(-1, 3).times(&number(-3, 1));
        assert!(!minus.is_disjoint(&number(1, 1)) && minus.width().magnitude() < -250);
    }

    #[test]
    fn tiny_numbers_take_no_time() {
        for (mantissa, low, high) in [(5, 0, 1), (-5, -1, 0), (0, 0, 0)] {
            let tiny = Binary::new(IBig::from(mantissa), -1 << 50);
            assert_eq!(tiny.to_fixed(300, false), IBig::from(low));
            assert_eq!(tiny.to_fixed(300, true), IBig::from(high));
        }
        for value in -40..40 {
            for by in 0..9 {
                let exact = f64::from(value) / f64::from(1 << by);
                let [down, up] = [false, true].map(|up| shift_right(IBig::from(value), by, up));
                assert_eq!(down, IBig::from(exact.floor() as i64), "{value} {by}");
                assert_eq!(up, IBig::from(exact.ceil() as i64), "{value} {by}");
            }
        }
    }

    #[test]
    fn sums_of_distant_numbers_are_on_their_side() {
        for (a, b) in [(3, 5), (3, -5), (-3, 5), (-3, -5)] {
            let (a, tiny) = (Binary::integer(a), Binary::new(IBig::from(b), -1 << 50));
            for [x, y] in [[&a, &tiny], [&tiny, &a]] {
                let (low, high) = (sum(x, y, false), sum(x, y, true));
                let (below, above) =
                    if b > 0 { (low == a, high > a) } else { (low < a, high == a) };
                assert!(below && above, "{a:?} {b}");
                assert!(high.plus(&low.negated()).magnitude() < -250);
            }
        }
    }

    #[test]
    fn roots_of_squares_are_exact() {
        let nine = number(9, 4).square_root().unwrap();
        assert!(nine.is_point() && nine == number(3, 2));
        let two = number(2, 1).square_root().unwrap();
        assert!(!two.times(&two).is_disjoint(&number(2, 1)) && !two.is_point());
        assert_eq!(number(-7, 2).integer_power(-3), Some(number(-8, 343)));
    }
}
