//! exp, log, sin, cos, atan and erf as enclosures, from power series in fixed point.
//!
//! Each function computes with 320 fractional bits and then widens by [`SLACK`] = 2^−288, which
//! exceeds the error by a wide margin; the bound is argued at each function in units of the last
//! place (ulp = 2^−320). Every truncation costs at most one ulp.

use super::interval::{Binary, Interval};
use dashu_base::BitTest;
use dashu_int::{IBig, UBig};
use std::sync::OnceLock;

/// Fractional bits of the fixed-point numbers.
const BITS: usize = 320;
/// Further bits of constants that are multiplied by large integers.
const GUARD: usize = 64;
/// The slack is 2 to this power, in ulps.
const SLACK: usize = 32;
/// Arguments must be below 2 to this power in magnitude; larger ones are refused.
const MAX_MAGNITUDE: i64 = 16;

/// Returns `ln 2` with [`BITS`] + [`GUARD`] bits. The error is below 2^9 of its own ulps: 400 truncations.
fn ln_2() -> &'static IBig {
    static VALUE: OnceLock<IBig> = OnceLock::new();
    // ln 2 = 2·atanh(1/3)
    VALUE.get_or_init(|| atanh_of_reciprocal(3, false) * IBig::from(2))
}

/// Returns π with as many bits, by Machin's formula.
fn pi_fixed() -> &'static IBig {
    static VALUE: OnceLock<IBig> = OnceLock::new();
    VALUE.get_or_init(|| {
        atanh_of_reciprocal(5, true) * IBig::from(16)
            - atanh_of_reciprocal(239, true) * IBig::from(4)
    })
}

/// `atanh(1/n)`, or `atan(1/n)` with alternating signs.
fn atanh_of_reciprocal(n: u32, alternating: bool) -> IBig {
    let mut power = (IBig::ONE << (BITS + GUARD)) / IBig::from(n);
    let square = IBig::from(u64::from(n) * u64::from(n));
    let mut sum = IBig::ZERO;
    let mut index = 0_u32;
    while !power.is_zero() {
        let term = &power / IBig::from(2 * index + 1);
        sum = if alternating && index % 2 == 1 { sum - term } else { sum + term };
        power /= &square;
        index += 1;
    }
    sum
}

/// `value · 2^exponent`, give or take [`SLACK`].
fn enclosure(value: IBig, exponent: i64) -> Interval {
    let slack = IBig::ONE << SLACK;
    let exponent = exponent - BITS as i64;
    Interval::new(Binary::new(&value - &slack, exponent), Binary::new(value + slack, exponent))
}

/// Computes the product of two fixed-point numbers, with one truncation.
fn times(a: &IBig, b: &IBig) -> IBig {
    (a * b) >> BITS
}

/// π
pub(super) fn pi() -> Interval {
    enclosure(pi_fixed() >> GUARD, 0)
}

/// Reduces the range: `x = count · unit + rest`, with `|rest| ≤ unit/2` nearly always and never above 1.5 units. The
/// rest errs by less than 2^3 ulp, because the guard bits absorb the error of the unit, multiplied by the count.
fn reduce(x: &Binary, unit: &IBig) -> (i64, IBig) {
    let scale = (BITS + GUARD) as i64;
    let fixed = x.to_fixed(scale, false);
    let doubled: IBig = &fixed * IBig::from(2) + unit;
    let count = doubled.clone() / (unit * IBig::from(2));
    // Truncation towards zero is off by one for negative values; a rest up to 1.5 units is fine
    // for the series, but keep it small.
    let count = if doubled < IBig::ZERO { count - IBig::ONE } else { count };
    let rest = (fixed - &count * unit) >> GUARD;
    (i64::try_from(&count).unwrap_or(0), rest)
}

fn exp_of_point(x: &Binary) -> Interval {
    let (count, rest) = reduce(x, ln_2());
    // |rest| ≤ 1.04; eight halvings bring it below 2^-7.9, eight squarings bring it back. The
    // series errs by 2 ulp a term over 35 terms; each squaring at most multiplies the error by
    // 2·e^1.04 < 6: 6^8 · 80 < 2^28 ulp.
    let small = rest >> 8;
    let (mut term, mut sum) = (IBig::ONE << BITS, IBig::ONE << BITS);
    let mut index = 1_u32;
    while !term.is_zero() && term != IBig::NEG_ONE {
        term = times(&term, &small) / IBig::from(index);
        sum += &term;
        index += 1;
    }
    for _ in 0..8 {
        sum = times(&sum, &sum);
    }
    enclosure(sum, count)
}

fn log_of_point(x: &Binary) -> Interval {
    // x = f · 2^k with f in [3/4, 3/2): the quotient (f−1)/(f+1) is at most 1/5 in magnitude and
    // the series gains more than 4 bits a term; 80 terms err by 2 ulp each, `k·ln 2` by less than
    // one thanks to its guard bits.
    let length = x.mantissa.bit_len() as i64;
    let mut k = length - 1 + x.exponent;
    let unscaled = Binary::new(x.mantissa.clone(), 1 - length);
    let mut f = unscaled.to_fixed(BITS as i64, false);
    let one = IBig::ONE << BITS;
    if &f * IBig::from(2) >= &one * IBig::from(3) {
        f >>= 1_usize;
        k += 1;
    }
    let y = ((&f - &one) << BITS) / (&f + &one);
    let square = times(&y, &y);
    let (mut power, mut sum) = (y, IBig::ZERO);
    let mut index = 1_u32;
    while !power.is_zero() && power != IBig::NEG_ONE {
        sum += &power / IBig::from(index);
        power = times(&power, &square);
        index += 2;
    }
    let multiple = (ln_2() * IBig::from(k)) >> GUARD;
    enclosure(sum * IBig::from(2) + multiple, 0)
}

/// `e^x`; `None` for arguments too large to enclose.
pub(super) fn exp(x: &Interval) -> Option<Interval> {
    if x.low.magnitude().max(x.high.magnitude()) > MAX_MAGNITUDE {
        return None;
    }
    if x.is_point() && x.low.signum() == 0 {
        return Some(Interval::point(Binary::integer(1)));
    }
    let (low, high) = (exp_of_point(&x.low), exp_of_point(&x.high));
    Some(Interval::new(low.low, high.high))
}

/// `log x`; `None` unless every value is positive.
pub(super) fn log(x: &Interval) -> Option<Interval> {
    if x.low.signum() <= 0 || x.high.magnitude().abs().max(x.low.magnitude().abs()) > 1 << 24 {
        return None;
    }
    if x.is_point() && x.low == Binary::integer(1) {
        return Some(Interval::point(Binary::integer(0)));
    }
    let (low, high) = (log_of_point(&x.low), log_of_point(&x.high));
    Some(Interval::new(low.low, high.high))
}

/// `sin x`, or `cos x`.
pub(super) fn sine(x: &Interval, cosine: bool) -> Option<Interval> {
    if x.low.magnitude().max(x.high.magnitude()) > MAX_MAGNITUDE {
        return None;
    }
    let half_pi: IBig = pi_fixed() >> 1_usize;
    let (count, rest) = reduce(&x.low, &half_pi);
    let quarter = (count + i64::from(cosine)).rem_euclid(4);
    let value = sine_series(&rest, quarter % 2 == 1);
    let value = if quarter >= 2 { -value } else { value };
    Some(lipschitz(enclosure(value, 0), x))
}

/// Series for sin or cos at `|x| < 2.4`: 90 terms, 2 ulp each, none larger than 2^4.
fn sine_series(x: &IBig, cosine: bool) -> IBig {
    let square = times(x, x);
    let mut term = if cosine { IBig::ONE << BITS } else { x.clone() };
    let mut sum = term.clone();
    let mut index = if cosine { 1_u32 } else { 2 };
    while !term.is_zero() && term != IBig::NEG_ONE {
        term = -(times(&term, &square) / IBig::from(index * (index + 1)));
        sum += &term;
        index += 2;
    }
    sum
}

/// `atan x`
pub(super) fn arctangent(x: &Interval) -> Option<Interval> {
    let magnitude = if x.low.signum() < 0 { x.low.negated() } else { x.low.clone() };
    let one = Interval::point(Binary::integer(1));
    let value = if magnitude > Binary::integer(1) {
        // π/2 − atan(1/x)
        let half = Interval::point(Binary::new(IBig::ONE, -1));
        let inverse = one.divided_by(&Interval::point(magnitude))?;
        pi().times(&half).minus(&arctangent_up_to_one(&inverse)?)?
    } else {
        arctangent_up_to_one(&Interval::point(magnitude))?
    };
    let at_low = if x.low.signum() < 0 { value.negated() } else { value };
    Some(lipschitz(at_low, x))
}

/// Halves the angle three times, `tan(a/2) = t / (1 + √(1 + t²))`: below 1/10 the series gains more than 6 bits a
/// term, and 55 terms err by 2 ulp each.
fn arctangent_up_to_one(x: &Interval) -> Option<Interval> {
    let one = Interval::point(Binary::integer(1));
    let mut tangent = x.clone();
    for _ in 0..3 {
        let root = one.plus(&tangent.times(&tangent))?.square_root()?;
        tangent = tangent.divided_by(&one.plus(&root)?)?;
    }
    let fixed = tangent.low.to_fixed(BITS as i64, false);
    let square = times(&fixed, &fixed);
    let (mut power, mut sum) = (fixed, IBig::ZERO);
    let mut index = 1_u32;
    while !power.is_zero() && power != IBig::NEG_ONE {
        sum += &power / IBig::from(index);
        power = -times(&power, &square);
        index += 2;
    }
    let eight = Interval::point(Binary::integer(8));
    Some(lipschitz(enclosure(sum, 0), &tangent).times(&eight))
}

/// `erf x`, by `2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!`, whose terms are all of one sign.
pub(super) fn erf(x: &Interval) -> Option<Interval> {
    let at_low = if x.low.signum() < 0 {
        erf_of_point(&Binary::new(-&x.low.mantissa, x.low.exponent))?.negated()
    } else {
        erf_of_point(&x.low)?
    };
    Some(lipschitz(at_low, x))
}

fn erf_of_point(x: &Binary) -> Option<Interval> {
    if *x > Binary::integer(16) {
        // erfc(16) < e^−256 < 2^−368
        let below = Binary::integer(1).plus(&Binary::new(IBig::NEG_ONE, -368));
        return Some(Interval::new(below, Binary::integer(1)));
    }
    let fixed = x.to_fixed(BITS as i64, false);
    let double_square = times(&fixed, &fixed) * IBig::from(2);
    let (mut term, mut sum) = (fixed.clone(), fixed);
    let mut index = 3_u32;
    while !term.is_zero() {
        term = times(&term, &double_square) / IBig::from(index);
        sum += &term;
        index += 2;
    }
    // At most 1500 terms; relative errors of 2^-310 where terms grow, 2 ulp each where they do
    // not: the sum errs by less than 2^-290 of itself plus 2^12 ulp.
    let slack: IBig = (IBig::ONE << SLACK) + (&sum >> 280_usize);
    let exponent = -(BITS as i64);
    let series =
        Interval::new(Binary::new(&sum - &slack, exponent), Binary::new(sum + slack, exponent));
    let point = Interval::point(x.clone());
    let decay = exp(&point.times(&point).negated())?;
    let norm = Interval::point(Binary::integer(2)).divided_by(&pi().square_root()?)?;
    Some(series.times(&decay).times(&norm))
}

/// Extends the value at the lower end to the whole interval, for a function of slope below 2.
fn lipschitz(at_low: Interval, x: &Interval) -> Interval {
    if x.is_point() {
        return at_low;
    }
    let width = x.width();
    at_low.widened(&Binary::new(width.mantissa, width.exponent + 1))
}

/// Approximate value of an enclosure; used by tests.
#[cfg(test)]
fn leading(value: &Interval) -> f64 {
    value.to_f64_lossy()
}

/// Returns the largest integer that is not above the value.
pub(super) fn floor(value: &Binary) -> IBig {
    if value.exponent >= 0 {
        return &value.mantissa * IBig::from(UBig::ONE << value.exponent as usize);
    }
    value.to_fixed(0, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::Number;

    fn at(value: f64) -> Interval {
        Interval::of_number(&Number::from_f64(value).unwrap())
    }

    fn tight(value: &Interval) -> bool {
        value.width().signum() == 0 || value.width().magnitude() - value.low.magnitude() < -240
    }

    #[test]
    fn values_agree_with_floats_and_are_tight() {
        for x in [-20.0, -3.5, -0.75, -1e-6, 0.001, 0.3, 1.0, 1.7, 5.25, 11.0, 30.0] {
            let e = exp(&at(x)).unwrap();
            assert!((leading(&e) - f64::exp(x)).abs() <= 1e-14 * f64::exp(x), "exp {x}");
            assert!(tight(&e));
            let (s, c) = (sine(&at(x), false).unwrap(), sine(&at(x), true).unwrap());
            assert!((leading(&s) - x.sin()).abs() < 1e-14, "sin {x}");
            assert!((leading(&c) - x.cos()).abs() < 1e-14, "cos {x}");
            let a = arctangent(&at(x)).unwrap();
            assert!((leading(&a) - x.atan()).abs() < 1e-14, "atan {x}");
            assert!(tight(&a), "atan {x}");
            let l = log(&at(x.abs())).unwrap();
            assert!((leading(&l) - x.abs().ln()).abs() < 1e-14, "log {x}");
        }
        assert!((leading(&pi()) - std::f64::consts::PI).abs() < 1e-15 && tight(&pi()));
        // Reference values of erf from its tables.
        for (x, value) in [
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.5, 0.999_999_256_901_627_7),
            (12.0, 1.0),
        ] {
            let positive = erf(&at(x)).unwrap();
            assert!((leading(&positive) - value).abs() < 1e-15, "erf {x}");
            assert!(tight(&positive));
            assert!(!erf(&at(-x)).unwrap().negated().is_disjoint(&positive));
        }
    }

    #[test]
    fn functional_equations_hold_as_enclosures() {
        for (x, y) in [(0.7, -2.3), (5.5, 4.25), (-11.0, 0.125), (0.01, 33.0)] {
            let (a, b) = (at(x), at(y));
            let sum = a.plus(&b).unwrap();
            let product = exp(&a).unwrap().times(&exp(&b).unwrap());
            assert!(!exp(&sum).unwrap().is_disjoint(&product));
            assert!(!log(&exp(&a).unwrap()).unwrap().is_disjoint(&a));
            let (s, c) = (sine(&a, false).unwrap(), sine(&a, true).unwrap());
            let one = s.times(&s).plus(&c.times(&c)).unwrap();
            assert!(!one.is_disjoint(&at(1.0)) && one.width().magnitude() < -240);
            let t = sine(&b, false).unwrap().times(&c).plus(&s.times(&sine(&b, true).unwrap()));
            assert!(!sine(&sum, false).unwrap().is_disjoint(&t.unwrap()));
        }
    }
}
